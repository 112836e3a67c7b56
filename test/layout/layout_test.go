package layout_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/test/layout"
)

func TestNobodyImportsWhatTheyMustNot(t *testing.T) {
	for _, violation := range layout.Violations(list(t)) {
		t.Error(violation)
	}
}

func TestTheRulesBite(t *testing.T) {
	const m = layout.Module
	for _, tt := range []struct {
		from, to string
		reason   string
	}{
		{m + "/internal/lifecycle", "sigs.k8s.io/controller-runtime/pkg/client", "a client is not pure"},
		{m + "/internal/lifecycle", "math/rand/v2", "jitter is passed in"},
		{m + "/internal/lifecycle", m + "/internal/record", "records are observed, not read"},
		{m + "/internal/effect/httpcall", m + "/internal/effect/job", "a sibling"},
		{m + "/internal/effect/httpcall", m + "/internal/record", "the caller's business"},
		{m + "/internal/effect", m + "/internal/controller", "the seam does not know who uses it"},
		{m + "/internal/effect", m + "/internal/effect/job", "the seam does not know who implements it"},
		{m + "/internal/controller", m + "/internal/effect/httpcall", "a concrete effect"},
		{m + "/internal/plan", m + "/internal/effect/httpcall", "only the manager chooses"},
		{m + "/cmd/gateway", m + "/internal/effect/httpcall", "only the manager chooses"},
		{m + "/internal/gateway", m + "/internal/record", "it is a client"},
		{m + "/api/v1alpha1", m + "/internal/expr", "clients import the kinds alone"},
		{m + "/pkg/submit", m + "/internal/plan", "clients import the kinds alone"},
		{m + "/internal/controller", m + "/test/harness", "a test's tool in the product"},
	} {
		if len(layout.Violations([]layout.Package{{ImportPath: tt.from, Imports: []string{tt.to}, Deps: []string{tt.to}}})) == 0 {
			t.Errorf("%s may import %s: %s", tt.from, tt.to, tt.reason)
		}
	}
}

func TestTheRulesLetThrough(t *testing.T) {
	const m = layout.Module
	for _, tt := range []struct{ from, to string }{
		{m + "/internal/lifecycle", "time"},
		{m + "/internal/lifecycle", m + "/api/v1alpha1"},
		{m + "/internal/effect/httpcall", m + "/internal/effect"},
		{m + "/internal/effect/sqltx", m + "/internal/ledger"},
		{m + "/internal/controller", m + "/internal/effect/effecttest"},
		{m + "/cmd/manager", m + "/internal/effect/httpcall"},
		{m + "/pkg/submit", m + "/api/v1alpha1"},
	} {
		if got := layout.Violations([]layout.Package{{ImportPath: tt.from, Imports: []string{tt.to}, Deps: []string{tt.to}}}); len(got) > 0 {
			t.Error(got)
		}
	}
}

func list(t *testing.T) []layout.Package {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,Deps", layout.Module+"/...")
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var packages []layout.Package
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var p layout.Package
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
	if len(packages) < 5 {
		t.Fatalf("go list names %d packages only", len(packages))
	}
	return packages
}
