package telemetry

import (
	"unicode/utf8"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

var eventsDropped = total("taskonce_events_dropped_total",
	"Events that were not sent, because there were too many at once: after an outage thousands of submissions may fail together. Status, metrics and the audit log have them all.")

const (
	// eventsPerSecond and eventsAtOnce bound what events cost the API server: each is a write.
	eventsPerSecond = 10
	eventsAtOnce    = 200
	// maxNote is what the API server takes.
	maxNote = 1024
)

// Events tells people, by events, what they care about: what waits for one, what one decided, what ended badly. It says
// each thing once, and nothing of what goes as it should: status says that, and an event is a write.
type Events struct {
	recorder events.EventRecorder
	limiter  *rate.Limiter
}

// NewEvents sends events by a recorder.
func NewEvents(recorder events.EventRecorder) *Events {
	return &Events{recorder: recorder, limiter: rate.NewLimiter(eventsPerSecond, eventsAtOnce)}
}

// Observe implements Observer.
func (e *Events) Observe(t *Transition) {
	var about runtime.Object = t.Submission
	if t.Submission == nil {
		if about = t.Record; t.Record == nil {
			return
		}
	}
	switch t.Kind {
	case Stored:
		e.stored(about, t)
	case Projected:
		e.projected(about, t)
	case Judged:
		if t.DecisionState != v1alpha1.DecisionApplied {
			e.send(about, corev1.EventTypeWarning, "Decision"+string(t.DecisionState), string(t.Decision.Action), "the decision "+t.Decision.Name+" changed nothing: "+t.Message)
		}
	case Released:
		if t.Decision != nil {
			e.decided(about, t.Decision)
		}
	}
}

func (e *Events) stored(about runtime.Object, t *Transition) {
	if t.Decision != nil {
		e.decided(about, t.Decision)
	}
	if isStuck(t) {
		e.send(about, corev1.EventTypeWarning, "Stuck", "Verify", t.Message)
	}
	if t.Before != nil && t.Before.Reason == t.After.Reason {
		return
	}
	switch t.After.Reason {
	case v1alpha1.ReasonOutcomeUnknown, v1alpha1.ReasonRejected, v1alpha1.ReasonRetriesExhausted, v1alpha1.ReasonTooLate, v1alpha1.ReasonBusinessKeyConflict:
		e.send(about, corev1.EventTypeWarning, string(t.After.Reason), actionOf(t.After.Phase), t.Message)
	case v1alpha1.ReasonBusinessKeyHeld:
		e.send(about, corev1.EventTypeNormal, string(t.After.Reason), "Wait", t.Message)
	}
}

// isStuck reports whether a receiver took the action on and did not finish it in time.
func isStuck(t *Transition) bool {
	return t.Before != nil && t.Before.Attempt.Number == t.After.Attempt.Number && !t.Ran &&
		t.Before.Attempt.Outcome == v1alpha1.OutcomeInProgress && t.After.Attempt.Outcome == v1alpha1.OutcomeUnknown
}

func (e *Events) projected(about runtime.Object, t *Transition) {
	switch {
	case t.Echo || t.Replayed() || t.From.Reason == t.To.Reason:
	case t.To.Phase == v1alpha1.PhaseFailed:
		e.send(about, corev1.EventTypeWarning, string(t.To.Reason), actionOf(t.To.Phase), t.Message)
	case t.To.Reason == v1alpha1.ReasonAwaitingApproval:
		e.send(about, corev1.EventTypeNormal, string(t.To.Reason), "Wait", t.Message)
	}
}

func actionOf(phase v1alpha1.Phase) string {
	if phase.Terminal() {
		return "Finish"
	}
	return "Wait"
}

// decisionTold is the reason of the event about a decision that was carried out.
var decisionTold = map[v1alpha1.DecisionAction]string{
	v1alpha1.DecisionApprove: "Approved", v1alpha1.DecisionCancel: "Cancelled", v1alpha1.DecisionRetry: "RetryRequested",
	v1alpha1.DecisionConfirmApplied: "ConfirmedApplied", v1alpha1.DecisionConfirmNotApplied: "ConfirmedNotApplied", v1alpha1.DecisionRelease: "Released",
}

func (e *Events) decided(about runtime.Object, d *v1alpha1.DecisionRef) {
	e.send(about, corev1.EventTypeNormal, decisionTold[d.Action], string(d.Action), "by "+orUnknown(d.By)+": "+d.Reason)
}

// Template tells of a template's conditions that became false, or true again.
func (e *Events) Template(template *v1alpha1.TaskTemplate, before []metav1.Condition) {
	if e == nil {
		return
	}
	for _, kind := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionReceiverHealthy} {
		was, is := meta.FindStatusCondition(before, kind), meta.FindStatusCondition(template.Status.Conditions, kind)
		bad := was != nil && was.Status == metav1.ConditionFalse
		switch {
		case is == nil || bad == (is.Status == metav1.ConditionFalse):
		case bad:
			e.send(template, corev1.EventTypeNormal, is.Reason, "Check", is.Message)
		default:
			e.send(template, corev1.EventTypeWarning, is.Reason, "Check", is.Message)
		}
	}
}

func (e *Events) send(about runtime.Object, kind, reason, action, note string) {
	if !e.limiter.Allow() {
		eventsDropped.Inc()
		return
	}
	e.recorder.Eventf(about, nil, kind, reason, action, "%s", fitting(note))
}

func fitting(note string) string {
	if len(note) <= maxNote {
		return note
	}
	end := maxNote - len("…")
	for end > 0 && !utf8.RuneStart(note[end]) {
		end--
	}
	return note[:end] + "…"
}
