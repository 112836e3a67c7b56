package telemetry

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// aBegin is an approved begin.
func aBegin() *Transition {
	submission := &v1alpha1.TaskSubmission{}
	submission.Annotations = map[string]string{v1alpha1.AnnotationSubmittedBy: "shop", v1alpha1.AnnotationOnBehalfOf: "stu-7"}
	after := action(v1alpha1.PhaseProcessing, v1alpha1.ReasonExecuting, 1, "", false)
	after.Traceparent = aTrace
	after.Approval = &v1alpha1.DecisionRef{Name: "yes", UID: "u", Action: v1alpha1.DecisionApprove, By: "jo", Reason: "it is due", At: metav1.NewTime(noon)}
	record := &v1alpha1.TaskRecord{ObjectMeta: metav1.ObjectMeta{Name: "ik-1"}, Spec: v1alpha1.TaskRecordSpec{Key: "k", Action: after}}
	t := &Transition{
		Kind: Stored, Time: noon, Namespace: "ns", Name: "n", Key: "k", Template: "charge", Submission: submission, Record: record, After: after,
		From: State{v1alpha1.PhasePending, v1alpha1.ReasonAwaitingApproval}, To: State{after.Phase, after.Reason}, Message: "the effect is being carried out", Executor: "e",
	}
	t.Decision = t.NewDecision()
	return t
}

func TestTheAuditLogSaysWhoWhatWhenAndWhy(t *testing.T) {
	var log bytes.Buffer
	NewAudit(&log).Observe(aBegin())
	const want = `{"schema":"taskonce.dev/audit/v1","sequence":1,"time":"2026-11-30T12:00:00Z","kind":"Stored","namespace":"ns","name":"n","key":"k",` +
		`"template":"charge","attempt":1,"from":"Pending/AwaitingApproval","to":"Processing/Executing","replayed":true,"reason":"it is due","actor":"jo","submitter":"shop","onBehalfOf":"stu-7",` +
		`"decision":{"name":"yes","action":"Approve","state":"Applied","by":"jo","at":"2026-11-30T12:00:00Z","reason":"it is due"},` +
		`"trace":"4bf92f3577b34da6a3ce929d0e0e4736","record":"ik-1","executor":"e"}` + "\n"
	if got := strings.Replace(log.String(), `"replayed":true,`, "", 1); got != strings.Replace(want, `"replayed":true,`, "", 1) {
		t.Errorf("wrote\n%swant\n%s", got, want)
	}
}

// TestTheSchemaHasEveryField also sees to it that no field of the schema is one that nothing writes.
func TestTheSchemaHasEveryField(t *testing.T) {
	type object struct {
		Properties map[string]object
		Required   []string
	}
	raw, err := os.ReadFile("../../docs/audit.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema object
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		of     any
		schema object
	}{{line{}, schema}, {decisionEntry{}, schema.Properties["decision"]}} {
		var fields, always []string
		for field := range reflect.TypeOf(c.of).Fields() {
			name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			fields = append(fields, name)
			if options != "omitempty" {
				always = append(always, name)
			}
		}
		slices.Sort(fields)
		if described := slices.Sorted(maps.Keys(c.schema.Properties)); !slices.Equal(fields, described) {
			t.Errorf("%T has %v, and the schema %v", c.of, fields, described)
		}
		slices.Sort(always)
		if required := slices.Sorted(slices.Values(c.schema.Required)); !slices.Equal(always, required) {
			t.Errorf("%T always has %v, and the schema requires %v", c.of, always, required)
		}
	}
}

func TestWhatIsNoNewsHasNoLine(t *testing.T) {
	begin := aBegin()
	prolonged := *begin
	prolonged.Before, prolonged.After = begin.After.DeepCopy(), begin.After.DeepCopy()
	prolonged.After.NextAt = &metav1.MicroTime{Time: noon}
	late, checked := prolonged, prolonged
	late.After = begin.After.DeepCopy()
	late.After.History = []v1alpha1.Attempt{{Number: 1, Outcome: v1alpha1.OutcomeApplied, Message: "a late report"}}
	checked.After = begin.After.DeepCopy()
	checked.After.Checks = 1
	for _, c := range []struct {
		reason string
		t      Transition
		want   int
	}{
		{"a begin", *begin, 1},
		{"a wait that is prolonged", prolonged, 0},
		{"a late report", late, 1},
		{"a check", checked, 1},
		{"a status that repeats its record", Transition{Kind: Projected, Echo: true}, 0},
		{"a status that no record speaks for", Transition{Kind: Projected}, 1},
		{"a decision that its record has told", Transition{Kind: Judged, DecisionState: v1alpha1.DecisionApplied, Decision: &v1alpha1.DecisionRef{Action: v1alpha1.DecisionRetry}}, 0},
		{"a decision that was refused", Transition{Kind: Judged, DecisionState: v1alpha1.DecisionRefused, Decision: &v1alpha1.DecisionRef{Action: v1alpha1.DecisionRetry}}, 1},
		{"a release", Transition{Kind: Judged, DecisionState: v1alpha1.DecisionApplied, Decision: &v1alpha1.DecisionRef{Action: v1alpha1.DecisionRelease}}, 1},
		{"the end of a record", Transition{Kind: Forgotten}, 1},
	} {
		var log bytes.Buffer
		NewAudit(&log).Observe(&c.t)
		if got := strings.Count(log.String(), "\n"); got != c.want {
			t.Errorf("%s: %d lines; want %d", c.reason, got, c.want)
		}
	}
}

// full is a disk that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestALineThatIsNotWrittenIsCounted(t *testing.T) {
	before := testutil.ToFloat64(auditErrors)
	NewAudit(full{}).Observe(aBegin())
	if got := testutil.ToFloat64(auditErrors) - before; got != 1 {
		t.Errorf("counted %v", got)
	}
}

// nearlyFull is a disk that takes a part of one line, nothing of the next, and is given room then.
type nearlyFull struct {
	bytes.Buffer
	writes int
}

func (d *nearlyFull) Write(text []byte) (int, error) {
	d.writes++
	switch d.writes {
	case 1:
		n, _ := d.Buffer.Write(text[:10])
		return n, errors.New("no space left on device")
	case 2:
		return 0, errors.New("no space left on device")
	default:
		return d.Buffer.Write(text)
	}
}

func TestALineThatWasTornOffSpoilsNoOther(t *testing.T) {
	disk := &nearlyFull{}
	audit := NewAudit(disk)
	for range 4 {
		audit.Observe(aBegin())
	}
	lines := strings.Split(strings.TrimSuffix(disk.String(), "\n"), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines: %q", len(lines), lines)
	}
	for i, want := range []int64{3, 4} {
		var entry line
		if err := json.Unmarshal([]byte(lines[i+1]), &entry); err != nil || entry.Sequence != want {
			t.Errorf("line %d: %v, number %d; want %d", i+2, err, entry.Sequence, want)
		}
	}
}

func TestLinesAreWholeAndCounted(t *testing.T) {
	const writers, each = 8, 50
	path := filepath.Join(t.TempDir(), "audit.log")
	for range 2 { // the second process appends
		audit, err := OpenAudit(path)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range writers {
			all.Go(func() {
				for range each {
					audit.Observe(aBegin())
				}
			})
		}
		all.Wait()
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	for one := range bytes.Lines(text) {
		var entry line
		if err := json.Unmarshal(one, &entry); err != nil {
			t.Fatalf("%v: %s", err, one)
		}
		if want := n%(writers*each) + 1; entry.Sequence != want {
			t.Fatalf("line %d has the number %d; want %d", n, entry.Sequence, want)
		}
		n++
	}
	if n != 2*writers*each {
		t.Errorf("%d lines", n)
	}
	if _, err := OpenAudit(filepath.Join(path, "below-a-file")); err == nil {
		t.Error("a log that cannot be opened is no error")
	}
}

func TestARefusedDecisionIsTheOperatorsWord(t *testing.T) {
	refused := &Transition{
		Kind: Judged, Time: noon, Message: "it has not failed", DecisionState: v1alpha1.DecisionRefused,
		Decision: &v1alpha1.DecisionRef{Name: "d", Action: v1alpha1.DecisionRetry, By: "jo", Reason: "again"},
	}
	var log bytes.Buffer
	NewAudit(&log).Observe(refused)
	var got line
	if err := json.Unmarshal(log.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Actor != theOperator || got.Reason != "it has not failed" || got.Decision.By != "jo" || got.Decision.Reason != "again" || got.Decision.State != v1alpha1.DecisionRefused {
		t.Errorf("wrote %s", log.String())
	}
}
