package cli

import (
	"errors"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/inbox"
)

var noon = time.Date(2027, time.March, 1, 12, 0, 0, 0, time.UTC)

func before(age time.Duration) metav1.Time { return metav1.Time{Time: noon.Add(-age)} }

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

type option func(*story)

// told is a submission of which nothing is known yet but what the options say.
func told(options ...option) *story {
	s := &story{subject: &subject{inbox.Subject{
		Name: types.NamespacedName{Namespace: "shop", Name: "refund-1001"},
		Submission: &v1alpha1.TaskSubmission{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "refund-1001", UID: "submission-uid", CreationTimestamp: before(time.Hour)},
			Spec: v1alpha1.TaskSubmissionSpec{
				TemplateRef: v1alpha1.TemplateRef{Name: "refund"},
				Parameters:  apiextensionsv1.JSON{Raw: []byte(`{"orderId": "1001"}`)},
			},
			Status: v1alpha1.TaskSubmissionStatus{Phase: v1alpha1.PhasePending},
		},
	}}}
	for _, option := range options {
		option(s)
	}
	return s
}

func is(phase v1alpha1.Phase, reason v1alpha1.Reason, message string) option {
	return func(s *story) {
		s.Submission.Status.Phase, s.Submission.Status.Reason, s.Submission.Status.Message = phase, reason, message
		if action := s.Action(); action != nil {
			action.Phase, action.Reason, action.Message = phase, reason, message
		}
	}
}

// begun gives it a record with one attempt.
func begun(outcome v1alpha1.Outcome, message string) option {
	return func(s *story) {
		started := metav1.NewMicroTime(noon.Add(-50 * time.Minute))
		s.Record = &v1alpha1.TaskRecord{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "ik-1", UID: "record-uid", CreationTimestamp: before(50 * time.Minute)},
			Spec: v1alpha1.TaskRecordSpec{Type: v1alpha1.RecordIdempotencyKey, Key: "refund-1001", Template: "refund", Action: &v1alpha1.Action{
				Phase: v1alpha1.PhaseProcessing, Submission: v1alpha1.SubmissionRef{Name: "refund-1001"},
				Unsettled: outcome == v1alpha1.OutcomeUnknown, EffectDigest: digest, ApprovedDigest: digest,
				Attempt: v1alpha1.Attempt{Number: 1, StartedAt: &started, Timeout: metav1.Duration{Duration: 30 * time.Second}, Outcome: outcome, Message: message},
			}},
		}
		s.Submission.Status.Attempts = 1
	}
}

func journal(edit func(*v1alpha1.Action)) option {
	return func(s *story) { edit(s.Action()) }
}

func unapproved(a *v1alpha1.Action) { a.Unapproved = true }

func holding(a *v1alpha1.Action) { a.BusinessKey, a.Claim = "1001", "bk-1" }

func gone(s *story) { s.Submission = nil }

// hidden has whoever asks not read records.
func hidden(s *story) {
	s.Hidden = errors.New("taskrecords.taskonce.dev is forbidden")
	s.Submission.Status.RecordName, s.Submission.Status.Attempts, s.Submission.Status.BusinessKey = "ik-1", 1, "1001"
}

// under gives it its template, whose effect has a digest.
func under(digest string) option {
	return func(s *story) {
		s.Template = &v1alpha1.TaskTemplate{
			Spec:   v1alpha1.TaskTemplateSpec{Approval: &v1alpha1.Approval{Required: true}},
			Status: v1alpha1.TaskTemplateStatus{EffectDigest: digest},
		}
	}
}

// with gives its template a condition.
func with(kind string, status metav1.ConditionStatus) option {
	return func(s *story) {
		s.Template.Status.Conditions = append(s.Template.Status.Conditions, metav1.Condition{Type: kind, Status: status})
	}
}

func heldBy(name string, stuck bool) option {
	return func(s *story) { s.Holder = inbox.Holder{Submission: name, Stuck: stuck} }
}

func decided(action v1alpha1.DecisionAction, state v1alpha1.DecisionState, message, by string) option {
	return func(s *story) {
		d := v1alpha1.TaskDecision{
			ObjectMeta: metav1.ObjectMeta{CreationTimestamp: before(10 * time.Minute)},
			Spec:       v1alpha1.TaskDecisionSpec{Action: action, Attempt: s.attempt(), Reason: "The parcel came back."},
			Status:     v1alpha1.TaskDecisionStatus{State: state, Message: message},
		}
		if by != "" {
			d.Annotations = map[string]string{v1alpha1.AnnotationDecidedBy: by}
		}
		s.decisions = append(s.decisions, d)
	}
}

func ended(s *story) {
	at, until := before(5*time.Minute), before(-720*time.Hour)
	s.Submission.Status.CompletedAt, s.Submission.Status.ExpiresAt = &at, &until
}
