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
	for _, each := range []*regexp.Regexp{uid, digest, age} { // a part of a UID may look like an age
		text = each.ReplaceAllString(text, "…")
	}
	return strings.TrimSpace(blanks.ReplaceAllString(text, " "))
}

func TestWhatDiffersIsAlike(t *testing.T) {
	const shown, printed = "uid 0c3142c4-0a76-42c8-a847-60c6805b5b93, 12s ago, sha256:55f32cda568a", "uid 50e1afe4-45b5-4df2-922d-aecac4dbceae,  1m3s ago,\nsha256:89d"
	if alike(shown) != alike(printed) {
		t.Errorf("%q and %q differ", alike(shown), alike(printed))
	}
	if alike(shown) == alike(strings.Replace(printed, "ago", "since", 1)) {
		t.Error("whatever is printed is alike")
	}
}
