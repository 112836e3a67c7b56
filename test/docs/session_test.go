package docs_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// sessions compares what is shown of the kubectl plugin with what it prints at the end of the document: all of it, but
// for the namespace, ages, digests, and how wide columns are.
func (r *reader) sessions(t *testing.T, d *document, kubeconfig string) {
	t.Helper()
	namespace, _, err := r.plane.Kubectl(t.Context(), "--kubeconfig="+kubeconfig, "config", "view", "--minify", "-o", "jsonpath={..namespace}")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range d.blocks {
		for _, shown := range strings.Split("\n"+d.text(b), "\n$ ")[1:] {
			command, want, _ := strings.Cut(shown, "\n")
			if b.language != "console" || !strings.HasPrefix(command, "kubectl taskonce ") {
				continue
			}
			run := exec.CommandContext(t.Context(), "bash", "-c", strings.ReplaceAll(command, "-n default", "-n "+namespace))
			run.Env = r.environment(kubeconfig)
			out, err := run.CombinedOutput()
			got := strings.ReplaceAll(string(out), namespace, "default")
			if err != nil || alike(got) != alike(want) {
				t.Errorf("%s:%d: %s prints something else (%v):\n%s", d.path, b.open+2, command, err, got)
			}
		}
	}
}

var (
	age    = regexp.MustCompile(`\b(\d+[smhd])+\b`)
	digest = regexp.MustCompile(`sha256:[0-9a-f]+`)
	uid    = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	blanks = regexp.MustCompile(`[ \n]+`)
)

func alike(text string) string {
	for _, each := range []*regexp.Regexp{age, digest, uid} {
		text = each.ReplaceAllString(text, "…")
	}
	return strings.TrimSpace(blanks.ReplaceAllString(text, " "))
}
