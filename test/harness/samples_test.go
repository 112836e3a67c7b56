package harness_test

import (
	"strings"
	"testing"

	"github.com/taskonce/taskonce/test/harness"
)

func TestTheManifestsApplyAsTheyAre(t *testing.T) {
	c := start(t, harness.Options{CRDs: true})
	// The namespace must exist before a dry run can put things into it.
	kubectl(t, c, "create", "namespace", harness.ManagerNamespace)
	for _, args := range [][]string{
		{"-k", "config/samples"},
		{"-k", "config/samples/sql"},
		{"-f", "config/samples/decision-approve-refund.yaml"},
		{"-k", "config/default", "--dry-run=server"},
	} {
		for _, how := range [][]string{{"apply"}, {"apply", "--server-side", "--force-conflicts"}} {
			// Strict validation makes a field that the API server does not know an error.
			all := append(append(how, "--validate=strict"), args...)
			if _, stderr, err := c.Kubectl(t.Context(), all...); err != nil {
				t.Error(err)
			} else if strings.Contains(stderr, "Warning: ") && !strings.Contains(stderr, "last-applied-configuration") {
				t.Errorf("kubectl %s warns: %s", strings.Join(all, " "), stderr)
			}
		}
	}
	if got := kubectl(t, c, "get", "tasksubmissions", "-o", "jsonpath={.items[*].status.phase}"); got != "Pending Pending Pending Pending Pending" {
		t.Errorf("phases of the samples without an operator: %s", got)
	}
}
