package controller

import (
	"context"
	"slices"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/lifecycle"
	"github.com/taskonce/taskonce/internal/telemetry"
)

// An operator with an old template may write InvalidParameters just while another one begins. That takes the submission
// out of every cache, so whoever carries the effect out must bring its status back itself (I5, I9).
func TestAVerdictFromAnOldTemplateDoesNotOutliveTheRecord(t *testing.T) {
	w := newWorld(scenario{processes: 1}.ready())
	operator, name := w.processes[0].submissions, w.names()[0]
	request := ctrl.Request{NamespacedName: name}
	if _, err := operator.Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}

	other := w.submissionOf(name.Name).DeepCopy()
	other.Status = v1alpha1.TaskSubmissionStatus{Phase: v1alpha1.PhaseFailed, Reason: v1alpha1.ReasonInvalidParameters}
	w.put(other)
	w.processes[0].cache = w.cached()
	operator.flights.(*modelFlights).all[name].end(effect.Outcome{Kind: v1alpha1.OutcomeApplied}, nil)
	if _, err := operator.Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}

	if status := w.submissionOf(name.Name).Status; status.Phase != v1alpha1.PhaseSuccess {
		t.Errorf("the effect was applied and the record says %s, and the status says %s/%s; want Success",
			w.recordOf(name.Name).Spec.Action.Phase, status.Phase, status.Reason)
	}
}

// Another process found an attempt to be lost, made the next one, and wrote its Success. The first one, which was stopped
// with its attempt in hand, does not write what it remembers over that (I5).
func TestASuccessIsNotOverwrittenByWhatAStoppedProcessRemembers(t *testing.T) {
	w := newWorld(scenario{processes: 2, receiver: idempotent}.ready())
	stopped, other, name := w.processes[0].submissions, w.processes[1].submissions, w.names()[0]
	reconcile := func(r *Submissions) {
		w.refresh()
		if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: name}); err != nil {
			t.Fatal(err)
		}
	}
	reconcile(stopped)
	reconcile(other)
	w.now += 2 * tick
	reconcile(other)
	w.flightOf(1, name).end(effect.Outcome{Kind: v1alpha1.OutcomeApplied}, nil)
	reconcile(other)

	reconcile(stopped)
	if status := w.submissionOf(name.Name).Status; status.Phase != v1alpha1.PhaseSuccess {
		t.Errorf("%s/%s: want the Success to stay", status.Phase, status.Reason)
	}
}

// A template was edited to allow what the cache's copy still refuses: the verdict is made from the new one.
func TestAVerdictIsMadeFromTheTemplateAsItIs(t *testing.T) {
	w := newWorld(scenario{processes: 1, schema: `{"type":"object","properties":{}}`}.ready())
	operator, name := w.processes[0].submissions, w.names()[0]
	edited := w.objects["template/t"].object.DeepCopyObject().(*v1alpha1.TaskTemplate)
	edited.Spec.ParametersSchema, edited.Generation = nil, 2
	w.put(edited)

	if _, err := operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: name}); err != nil {
		t.Fatal(err)
	}
	if status := w.submissionOf(name.Name).Status; status.Phase == v1alpha1.PhaseFailed {
		t.Errorf("%s/%s: %s; want it to begin: the template allows the parameters by now", status.Phase, status.Reason, status.Message)
	}
	if w.recordOf(name.Name) == nil {
		t.Error("nothing was begun")
	}
}

// projections are what an operator told of the statuses that it wrote: from which phase to which.
type projections []string

func (p *projections) Observe(t *telemetry.Transition) {
	if t.Kind == telemetry.Projected {
		*p = append(*p, string(t.From.Phase)+" to "+string(t.To.Phase))
	}
}

// Metrics, events and the audit log have no other source: an end is told by whoever wrote it, of what it was written over.
func TestAnEndIsToldByWhoeverWroteIt(t *testing.T) {
	for _, test := range []struct {
		reason    string
		meanwhile func(w, done *world, name string)
		want      []string
	}{
		{"nobody else was there", func(*world, *world, string) {}, []string{"Pending to Success"}},
		{"another process wrote a verdict", func(w, _ *world, name string) {
			other := w.submissionOf(name).DeepCopy()
			other.Status = v1alpha1.TaskSubmissionStatus{Phase: v1alpha1.PhaseFailed, Reason: v1alpha1.ReasonInvalidParameters}
			w.put(other)
		}, []string{"Failed to Success"}},
		{"another process wrote the same", func(w, done *world, name string) {
			w.put(done.submissionOf(name).DeepCopy())
		}, nil},
		{"another submission of its name is there", func(w, _ *world, name string) {
			again := w.submissionOf(name).DeepCopy()
			delete(w.objects, keyOf(again))
			w.put(again)
		}, nil},
		{"it is gone", func(w, _ *world, name string) { delete(w.objects, "submission/"+name) }, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(scenario{processes: 1}.ready())
			name, told := w.names()[0], projections{}
			pass := func(w *world) {
				if _, err := w.processes[0].submissions.Reconcile(t.Context(), ctrl.Request{NamespacedName: name}); err != nil {
					t.Fatal(err)
				}
			}
			pass(w)
			w.flightOf(0, name).end(effect.Outcome{Kind: v1alpha1.OutcomeApplied}, nil)
			done := w.clone()
			pass(done)

			w.processes[0].submissions.Observer = &told
			test.meanwhile(w, done, name.Name)
			pass(w)
			if !slices.Equal(told, test.want) {
				t.Errorf("%q was told, want %q", told, test.want)
			}
		})
	}
}

// deletions are what an operator told to be gone.
type deletions []telemetry.Kind

func (d *deletions) Observe(t *telemetry.Transition) { *d = append(*d, t.Kind) }

func TestADeletionIsToldByWhoeverWasFirst(t *testing.T) {
	for kind, do := range map[telemetry.Kind]func(*Submissions, context.Context, *subject) error{
		telemetry.Removed: (*Submissions).remove, telemetry.Forgotten: (*Submissions).expire, telemetry.Released: (*Submissions).release,
	} {
		for _, first := range []bool{true, false} {
			w := newWorld(scenario{processes: 1, businessKey: true}.ready())
			p, name, told := w.processes[0], w.names()[0], deletions{}
			for range 2 {
				if _, err := p.submissions.Reconcile(t.Context(), ctrl.Request{NamespacedName: name}); err != nil {
					t.Fatal(err)
				}
				if f := w.flightOf(0, name); f != nil {
					f.end(effect.Outcome{Kind: v1alpha1.OutcomeApplied}, nil)
				}
			}
			claim := w.objects[claimKey].object.(*v1alpha1.TaskRecord)
			p.submissions.Observer = &told
			p.pass = &subject{
				action: name, submission: w.submissionOf(name.Name),
				record: lifecycle.Record{Read: true, Object: w.recordOf(name.Name)}, claim: lifecycle.Claim{Read: true, Object: claim},
			}
			if kind == telemetry.Forgotten {
				delete(w.objects, "submission/"+name.Name)
			}
			if !first {
				clear(w.objects)
			}
			if err := do(p.submissions, t.Context(), p.pass); err != nil || slices.Contains(told, kind) != first {
				t.Errorf("%s, first: %t: %q was told, %v", kind, first, told, err)
			}
		}
	}
}
