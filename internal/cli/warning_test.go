package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestWarningsAreShown: what the API server warns of is on standard error, as kubectl has it, and once for many.
func TestWarningsAreShown(t *testing.T) {
	const warning = `there is no TaskTemplate "wroks" in this namespace: the submission waits for one`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Warning", `299 - "`+strings.ReplaceAll(warning, `"`, `\"`)+`"`)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.Copy(w, r.Body)
	}))
	t.Cleanup(server.Close)
	two := "apiVersion: taskonce.dev/v1alpha1\nkind: TaskSubmission\nmetadata: {name: a, namespace: shop}\nspec: {templateRef: {name: wroks}}\n---\n" +
		"apiVersion: taskonce.dev/v1alpha1\nkind: TaskSubmission\nmetadata: {name: b, namespace: shop}\nspec: {templateRef: {name: wroks}}\n"
	path := t.TempDir() + "/two.yaml"
	write(t, path, two)
	out, complaints, code := at("", "submit", "-f", path, "--server="+server.URL)
	if code != 0 || strings.Count(out, " submitted\n") != 2 || complaints != "Warning: "+warning+"\n" {
		t.Errorf("%d: %s%s", code, out, complaints)
	}
}
