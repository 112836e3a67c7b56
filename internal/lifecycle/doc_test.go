package lifecycle

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

const page = "../../docs/lifecycle.md"

func readPage(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// constants returns the values of the constants of a type in the API.
func constants(t *testing.T, of string) []string {
	t.Helper()
	var values []string
	for _, path := range []string{"reason.go", "taskdecision_types.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), "../../api/v1alpha1/"+path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			group, ok := node.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				return true
			}
			for _, spec := range group.Specs {
				constant := spec.(*ast.ValueSpec)
				// Reasons are written without their type, so that they are known by their names.
				kind, typed := constant.Type.(*ast.Ident)
				if typed && kind.Name == of || !typed && strings.HasPrefix(constant.Names[0].Name, of) {
					value, _ := strconv.Unquote(constant.Values[0].(*ast.BasicLit).Value)
					values = append(values, value)
				}
			}
			return false
		})
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// firstColumn returns the code words that begin the rows of the tables under a heading.
func firstColumn(t *testing.T, text, heading string) []string {
	t.Helper()
	_, section, found := strings.Cut(text, "\n## "+heading)
	if !found {
		t.Fatalf("no section %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var words []string
	for _, match := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllStringSubmatch(section, -1) {
		words = append(words, match[1])
	}
	slices.Sort(words)
	return words
}

func TestPageNamesEveryReason(t *testing.T) {
	text := readPage(t)
	var told []string
	for _, phase := range []v1alpha1.Phase{v1alpha1.PhasePending, v1alpha1.PhaseProcessing, v1alpha1.PhaseSuccess, v1alpha1.PhaseFailed} {
		for _, reason := range firstColumn(t, text, string(phase)+":") {
			if phaseOf[v1alpha1.Reason(reason)] != phase {
				t.Errorf("%s is told under %s", reason, phase)
			}
			told = append(told, reason)
		}
	}
	slices.Sort(told)
	if known := constants(t, "Reason"); !slices.Equal(told, known) || len(known) != len(phaseOf) {
		t.Errorf("the page tells of\n%v\nand the API has\n%v", told, known)
	}
}

func TestPageNamesEveryDecision(t *testing.T) {
	if told, known := firstColumn(t, readPage(t), "Decisions"), constants(t, "DecisionAction"); !slices.Equal(told, known) {
		t.Errorf("the page tells of\n%v\nand the API has\n%v", told, known)
	}
}

// TestPageShowsEveryTransition compares the diagram with what carrying steps out from random observations does to the
// phase of a status.
func TestPageShowsEveryTransition(t *testing.T) {
	drawn := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^ {4}(\w+) --> (\w+)`).FindAllStringSubmatch(readPage(t), -1) {
		drawn[match[1]+" --> "+match[2]] = true
	}
	met := map[string]bool{}
	for seed := range uint64(100_000) {
		o := randomObservation(seed)
		if o.Submission == nil || o.PayloadDigest != payload || o.Record.Last != nil {
			continue // no status, or one that does not come of a record
		}
		from := Project(o).Phase
		step := Decide(o)
		switch step := step.(type) {
		case Begin:
			store(&o, step.Action, time.Time{})
			o.Flight = Flight{State: FlightRunning, Attempt: step.Action.Attempt.Number}
		case Store:
			store(&o, step.Action, step.RemoveAt)
		default:
			continue
		}
		if to := Project(o).Phase; to != from {
			met[string(from)+" --> "+string(to)] = true
		}
	}
	for transition := range met {
		if !drawn[transition] {
			t.Errorf("%s is not drawn", transition)
		}
	}
	for transition := range drawn {
		if !met[transition] && transition != "Pending --> Success" { // a replay: its record is read, and nothing stored
			t.Errorf("%s is drawn and never met", transition)
		}
	}
}
