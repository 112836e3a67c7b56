package controller

import (
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/expr"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// scenario is one bounded world to explore.
type scenario struct {
	name      string
	processes int
	stale     bool          // caches lag behind, and a read and the step after it are two
	apart     bool          // each process looks at its own key only
	until     time.Duration // how far time passes
	keys      int           // how many submissions there are; 0: one
	receiver  receiverKind
	remembers time.Duration // for how long an idempotent receiver knows a key; 0: for ever
	refuses   refusal
	budget    budget

	// The template's policies.
	businessKey bool // all keys have the same
	approval    bool
	maxChecks   int32         // 0: one
	maxAttempts int32         // 0: one, and of a receiver that can be asked one more than it says "no" to
	recordTTL   time.Duration // 0: longer than the scenario
	schema      string        // of the parameters

	// What the submissions ask for; 0: nothing.
	notBefore, notAfter time.Duration

	smallRecords bool // the API server takes no record with a result

	faults

	template    *v1alpha1.TaskTemplate
	submissions []*v1alpha1.TaskSubmission
	recordKeys  map[string]string
	plans       map[int64]*Plans // by the template's generation
}

// receiverKind is what a receiver can do.
type receiverKind struct{ idempotent, verifies bool }

var (
	plain         = receiverKind{}                                 // it neither honours a key nor can be asked
	answering     = receiverKind{verifies: true}                   // it can be asked
	idempotent    = receiverKind{idempotent: true}                 // it applies a key once
	transactional = receiverKind{idempotent: true, verifies: true} // effect and key are one transaction
)

// refusal says what a receiver's "no" means.
type refusal int

const (
	forNow  refusal = iota // trying again may help
	forGood                // it does not
)

// otherPayload is what somebody asks for who uses a key again.
const otherPayload = `{"b":"one","other":true}`

// ready makes the objects of the scenario.
func (s scenario) ready() *scenario {
	s.template = s.newTemplate()
	s.recordKeys = map[string]string{}
	for i := range max(s.keys, 1) {
		submission := &v1alpha1.TaskSubmission{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("k%d", i+1), Generation: 1}}
		parameters := apiextensionsv1.JSON{Raw: fmt.Appendf(nil, `{"b":"one","n":%d}`, i)}
		submission.Spec = v1alpha1.TaskSubmissionSpec{TemplateRef: v1alpha1.TemplateRef{Name: "t"}, Parameters: parameters}
		submission.Spec.NotBefore, submission.Spec.NotAfter = s.at(s.notBefore), s.at(s.notAfter)
		submission.Status = v1alpha1.TaskSubmissionStatus{Phase: v1alpha1.PhasePending, ObservedGeneration: -1}
		s.submissions = append(s.submissions, submission)
		s.recordKeys[submission.Name] = "record/" + v1alpha1.RecordName(submission.Name)
	}
	s.plans = map[int64]*Plans{}
	if s.decide == nil {
		s.decide = lifecycle.Decide
	}
	return &s
}

// at is a time of the scenario; nil: none.
func (s *scenario) at(after time.Duration) *metav1.Time {
	if after == 0 {
		return nil
	}
	return &metav1.Time{Time: modelEpoch.Add(after)}
}

func (s *scenario) newTemplate() *v1alpha1.TaskTemplate {
	d := func(d time.Duration) metav1.Duration { return metav1.Duration{Duration: d} }
	template := &v1alpha1.TaskTemplate{ObjectMeta: metav1.ObjectMeta{Name: "t", Generation: 1}}
	spec := &template.Spec
	spec.Effect.HTTP = &v1alpha1.HTTPEffect{HTTPRequest: v1alpha1.HTTPRequest{URL: "http://receiver"}}
	attempts := max(s.maxAttempts, 1)
	if s.receiver.verifies {
		attempts = max(attempts, 2)
	}
	spec.Retry = v1alpha1.Retry{MaxAttempts: attempts, InitialDelay: d(tick), MaxDelay: d(tick)}
	spec.Recovery = v1alpha1.Recovery{Mode: v1alpha1.RecoveryAuto, StuckAfter: d(time.Hour), MaxChecks: max(s.maxChecks, 1)}
	spec.Retention = v1alpha1.Retention{RecordTTL: d(24 * time.Hour), Policy: v1alpha1.RetentionExpire}
	if s.recordTTL > 0 {
		spec.Retention.RecordTTL = d(s.recordTTL)
	}
	spec.Limits = v1alpha1.Limits{MaxInFlight: 10}
	spec.OnBusinessKeyConflict = v1alpha1.ReturnFirst
	if s.schema != "" {
		spec.ParametersSchema = &v1alpha1.ParametersSchema{OpenAPIV3Schema: apiextensionsv1.JSON{Raw: []byte(s.schema)}}
	}
	if s.businessKey {
		spec.BusinessKey = "${params.b}"
	}
	if s.approval {
		spec.Approval = &v1alpha1.Approval{Required: true}
	}
	return template
}

// plansOf has a template compiled once for each generation in all of the exploration, whoever looks at it when.
func (s *scenario) plansOf(generation int64) *Plans {
	if s.plans[generation] == nil {
		s.plans[generation] = s.newPlans()
	}
	return s.plans[generation]
}

func (s *scenario) newPlans() *Plans {
	traits := effect.Traits{
		Timeout: tick, ReplaySafe: s.receiver.idempotent, RemembersFor: time.Hour,
		Verifies: s.receiver.verifies, Forbids: s.receiver == transactional, VerifyTimeout: tick, SettleAfter: tick,
	}
	if s.remembers > 0 {
		traits.RemembersFor = s.remembers
	}
	return NewPlans(effect.Compilers{HTTP: func(_ string, spec *v1alpha1.TaskTemplateSpec, _ *expr.Env) (effect.Effect, effect.Traits, field.ErrorList) {
		return modelEffect{address: spec.Effect.HTTP.URL}, traits, nil
	}})
}
