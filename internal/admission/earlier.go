package admission

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
	"github.com/taskonce/taskonce/internal/plan"
	"github.com/taskonce/taskonce/internal/telemetry"
)

// earlier is what is known of an action whose key is submitted again.
type earlier struct {
	template string
	phase    v1alpha1.Phase
	reason   v1alpha1.Reason
	since    time.Time
	// same says that it is the same action; otherwise differing names the fields that differ, as far as they are known.
	same      bool
	differing []string
}

// recently is how long an answer is good for whoever asks the same again: a stampede on one key reads its record once a
// second, also when many ask at once. Only "the same action" is kept and shared, which refuses nothing: at worst a warning
// is a second old, and the reconciler is the first to check what is submitted then.
const recently = time.Second

// recentAnswers bounds how many are kept.
const recentAnswers = 1024

type question struct{ namespace, key, payload string }

// NewRecent returns where answers are kept.
func NewRecent(clock cache.Clock) *cache.LRUExpireCache {
	return cache.NewLRUExpireCacheWithClock(recentAnswers, clock)
}

// earlier finds what a key was used for: in the cache, which holds what has not finished, and else in the record, which
// also outlives its submission. It returns nil for a key that is new, as far as it can be told: of creates at the same
// time each finds nothing, and so does one that meets a submission which failed because of its input.
func (h *Submissions) earlier(ctx context.Context, submission *v1alpha1.TaskSubmission, input *plan.Input) (*earlier, error) {
	payload, err := input.PayloadDigest()
	if err != nil {
		return nil, err
	}
	first, err := find(ctx, h.Cache, submission)
	if err != nil {
		return nil, err
	}
	if first != nil {
		if known := ofSubmission(first, submission, payload); known.same {
			return known, nil
		}
		// It may have been deleted, and the cache behind.
		if first, err = find(ctx, h.Live, submission); err != nil {
			return nil, err
		}
		if first != nil {
			return ofSubmission(first, submission, payload), nil
		}
	}
	asked := question{submission.Namespace, submission.Key(), payload}
	if known, ok := h.Recent.Get(asked); ok {
		return known.(*earlier), nil
	}
	known, err, shared := h.asking.Do(fmt.Sprint(asked), func() (any, error) {
		if known, ok := h.Recent.Get(asked); ok { // whoever asked last has just been answered
			return known, nil
		}
		known, err := h.ofRecord(ctx, submission, payload)
		if known != nil && known.same {
			h.Recent.Add(asked, known, recently)
		}
		return known, err
	})
	if said, _ := known.(*earlier); !shared || said != nil && said.same {
		return said, err
	}
	return h.ofRecord(ctx, submission, payload) // it was read for somebody else, who may have gone, or before this create
}

func (h *Submissions) ofRecord(ctx context.Context, submission *v1alpha1.TaskSubmission, payload string) (*earlier, error) {
	kept, err := h.Records.Read(ctx, submission.Namespace, submission.Key())
	if err != nil || kept == nil {
		return nil, err
	}
	action := kept.Spec.Action
	known := &earlier{
		template: kept.Spec.Template, phase: action.Phase, reason: action.Reason, since: kept.CreationTimestamp.Time,
		same: action.PayloadDigest == payload,
	}
	if known.same {
		return known, nil
	}
	first, err := find(ctx, h.Live, submission) // what is refused may cost a read more: the fields are worth it
	if err != nil {
		return nil, err
	}
	if first != nil {
		known.differing = differing(&first.Spec, &submission.Spec)
	}
	if len(known.differing) == 0 && kept.Spec.Template != submission.Spec.TemplateRef.Name {
		known.differing = []string{"spec.templateRef.name"}
	}
	return known, nil
}

func ofSubmission(first, submission *v1alpha1.TaskSubmission, payload string) *earlier {
	known := &earlier{
		template: first.Spec.TemplateRef.Name, phase: first.Status.Phase, reason: first.Status.Reason, since: first.CreationTimestamp.Time,
	}
	digest, err := v1alpha1.PayloadDigest(&first.Spec)
	if known.same = err == nil && digest == payload; !known.same {
		known.differing = differing(&first.Spec, &submission.Spec)
	}
	return known
}

// find returns the submission of that name, or nil.
func find(ctx context.Context, reader client.Reader, submission *v1alpha1.TaskSubmission) (*v1alpha1.TaskSubmission, error) {
	found := &v1alpha1.TaskSubmission{}
	if err := reader.Get(ctx, client.ObjectKeyFromObject(submission), found); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return found, nil
}

// answer refuses another action, and lets the same one through to the API server, with a word about the first one.
func (e *earlier) answer(now time.Time) (*lifecycle.Problem, string) {
	stands := string(e.phase)
	if e.reason != "" {
		stands += "/" + string(e.reason)
	}
	age := duration.HumanDuration(now.Sub(e.since))
	if e.same {
		return nil, fmt.Sprintf("this action is known: its key was first submitted %s ago, and it is %s; it is not done again", age, stands)
	}
	fields := "spec.templateRef or spec.parameters"
	if len(e.differing) > 0 {
		fields = strings.Join(e.differing, ", ")
	}
	return &lifecycle.Problem{Reason: v1alpha1.ReasonKeyReused, Field: "spec", Message: fmt.Sprintf(
		"this key belongs to a different action, first submitted %s ago, which is %s; what differs: %s. Submit a new action under a new key", age, stands, fields)}, ""
}

// count counts a duplicate by what it found. The label is bounded by the templates that exist.
func (h *Submissions) count(ctx context.Context, namespace string, known *earlier) {
	label := known.template
	template := &v1alpha1.TaskTemplate{}
	if err := h.Cache.Get(ctx, client.ObjectKey{Namespace: namespace, Name: label}, template); err != nil {
		label = telemetry.UnknownTemplate
	}
	found := strings.ToLower(string(known.phase))
	if !known.same {
		found = "mismatch"
	}
	telemetry.Duplicates.WithLabelValues(label, found).Inc()
}
