package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/inbox"
)

func discard() genericiooptions.IOStreams { return genericiooptions.NewTestIOStreamsDiscard() }

func text(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// reasons returns the closed list, with the phase of each.
func reasons(t *testing.T) map[v1alpha1.Reason]v1alpha1.Phase {
	t.Helper()
	all := map[v1alpha1.Reason]v1alpha1.Phase{}
	blocks := strings.Split(text(t, "../../api/v1alpha1/reason.go"), "\n// Reasons of ")
	for _, block := range blocks[1:] {
		phase, _, _ := strings.Cut(block, ":")
		for _, found := range regexp.MustCompile(`Reason += "(\w+)"`).FindAllStringSubmatch(block, -1) {
			all[v1alpha1.Reason(found[1])] = v1alpha1.Phase(phase)
		}
	}
	if len(all) < 20 {
		t.Fatalf("%d reasons only", len(all))
	}
	return all
}

// TestOperationsSpeaksOfEveryReason: each that waits has a row and a section, each that failed has a row, and who is
// needed is what the inbox shows.
func TestOperationsSpeaksOfEveryReason(t *testing.T) {
	page := text(t, "../../docs/operations.md")
	waits, _, _ := strings.Cut(page, "\n## Alerts\n")
	headings := regexp.MustCompile(`(?m)^### (\w+)$`).FindAllStringSubmatch(waits, -1)
	all := reasons(t)
	waiting := 0
	for reason, phase := range all {
		switch phase {
		case v1alpha1.PhaseFailed:
			if !strings.Contains(page, "Failed/"+string(reason)) {
				t.Errorf("nothing is said of Failed/%s", reason)
			}
			continue
		case v1alpha1.PhaseSuccess:
			continue
		}
		waiting++
		if !strings.Contains(page, "\n### "+string(reason)+"\n") {
			t.Errorf("%s has no section", reason)
		}
		row := regexp.MustCompile(`(?m)^\| \[` + string(reason) + `\]\(#` + strings.ToLower(string(reason)) + `\) \| [^|]+ \| (\w+)[^|]* \|$`).FindStringSubmatch(page)
		asks := inbox.Asks(reason) != ""
		if row == nil {
			t.Errorf("%s has no row in the table", reason)
		} else if (row[1] == "yes") != asks {
			t.Errorf("%s: the page says %q, and the inbox lists it: %v", reason, row[1], asks)
		}
	}
	if len(headings) != waiting {
		t.Errorf("there are %d reasons to wait, and %d sections", waiting, len(headings))
	}
	for _, d := range decisions {
		if !strings.Contains(page, "| `"+d.verb+"` |") {
			t.Errorf("the decision %s has no row", d.verb)
		}
	}
}
