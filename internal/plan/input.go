package plan

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// maxParameters leaves room in record and status, which etcd bounds at 1.5 MiB, for what comes of the action.
const maxParameters = 1 << 20

// inputCheck is one question about a submission's input.
type inputCheck struct {
	reason v1alpha1.Reason
	field  string // what the fault is in
	// find returns what is wrong, or "".
	find func(*checking) string
	// byTemplate says that only a template that compiles can answer.
	byTemplate bool
}

// inputChecks are in the order in which faults are told: no key can be computed from parameters that the schema
// refuses. Admission and the reconciler both go through this table, so it makes no difference for the verdict which of
// them meets a submission first.
var inputChecks = []inputCheck{
	{v1alpha1.ReasonInvalidName, "metadata.name", func(in *checking) string { return lifecycle.WrongName(in.submission) }, false},
	{v1alpha1.ReasonInvalidParameters, "spec.parameters", wrongSize, false},
	{v1alpha1.ReasonInvalidParameters, "spec.parameters", notDigestible, false},
	{v1alpha1.ReasonInvalidParameters, "spec.parameters", wrongParameters, true},
	{v1alpha1.ReasonInvalidParameters, "spec.parameters", noKeys, true},
	{v1alpha1.ReasonKeyMismatch, "spec.idempotencyKey", wrongKey, true},
}

// Input is what a submission asks for.
type Input struct {
	submission *v1alpha1.TaskSubmission
	digest     func() (string, error)
	passed     atomic.Pointer[passed]
}

// passed is a check that found no fault.
type passed struct {
	plan        *Plan
	businessKey string
}

// InputOf returns the input of a submission.
func InputOf(submission *v1alpha1.TaskSubmission) *Input {
	return &Input{submission: submission, digest: sync.OnceValues(func() (string, error) {
		return v1alpha1.PayloadDigest(&submission.Spec)
	})}
}

// IsOf reports whether it is this very submission's: its spec never changes.
func (i *Input) IsOf(submission *v1alpha1.TaskSubmission) bool {
	return i.submission.UID == submission.UID
}

// PayloadDigest returns the digest of what is asked for. It is computed once, by whoever asks first: of large parameters
// that takes long.
func (i *Input) PayloadDigest() (string, error) { return i.digest() }

// checking is an input on its way through the table, and what the checks have made of it so far.
type checking struct {
	*Input
	plan             *Plan
	key, businessKey string
}

// Check returns the business key of the submission, or the first fault of its input. Without a plan it asks what can be
// told without a template. What is right under a plan stays so: neither ever changes.
func (i *Input) Check(plan *Plan) (businessKey string, problem *lifecycle.Problem) {
	if before := i.passed.Load(); before != nil && before.plan == plan {
		return before.businessKey, nil
	}
	in := &checking{Input: i, plan: plan}
	for _, check := range inputChecks {
		if check.byTemplate && plan == nil {
			continue
		}
		if message := check.find(in); message != "" {
			return "", &lifecycle.Problem{Reason: check.reason, Field: check.field, Message: message}
		}
	}
	i.passed.Store(&passed{plan: plan, businessKey: in.businessKey})
	return in.businessKey, nil
}

func wrongSize(in *checking) string {
	if size := len(in.submission.Spec.Parameters.Raw); size > maxParameters {
		return fmt.Sprintf("the parameters have %d bytes, and at most %d are allowed: store what is large elsewhere, and pass its address", size, maxParameters)
	}
	return ""
}

func notDigestible(in *checking) string {
	_, err := in.PayloadDigest()
	return said(err)
}

func wrongParameters(in *checking) string {
	return said(in.plan.ValidateParameters(in.submission.Spec.Parameters.Raw))
}

func noKeys(in *checking) (message string) {
	var err error
	in.key, in.businessKey, err = in.plan.Keys(in.submission)
	return said(err)
}

func wrongKey(in *checking) string {
	if in.key != "" && in.key != in.submission.Key() {
		return fmt.Sprintf("the template makes the key %q of these parameters: submit under that key", in.key)
	}
	return ""
}

func said(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}
