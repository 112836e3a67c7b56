package job

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/expr"
)

const (
	// createTimeout bounds an attempt: the making of the Job, not its run. A question has as long.
	createTimeout       = 30 * time.Second
	defaultRemembersFor = 24 * time.Hour
)

type compiler struct{ options Options }

// run is the effect of one template.
type run struct {
	Options
	template  batchv1.JobTemplateSpec
	texts     []text // the strings of the template that hold expressions
	exitCodes []int32
	main      string // the container that says how it went
}

var (
	_ effect.Effect   = (*run)(nil)
	_ effect.Verifier = (*run)(nil)
	_ effect.Poller   = (*run)(nil)
	_ effect.Follower = (*run)(nil)
	_ effect.Disposer = (*run)(nil)
	_ effect.Preparer = (*run)(nil)
)

// compile implements effect.Compiler.
func (c *compiler) compile(_ string, spec *v1alpha1.TaskTemplateSpec, env *expr.Env) (effect.Effect, effect.Traits, field.ErrorList) {
	root := field.NewPath("spec")
	path := root.Child("effect", "job")
	if spec.Effect.Job == nil {
		return nil, effect.Traits{}, field.ErrorList{field.Required(path, "this template has no Job")}
	}
	job := spec.Effect.Job.DeepCopy()
	faults := refuse(path.Child("template"), &job.Template, job.Receiver.Idempotent)
	if spec.Verification != nil {
		faults = append(faults, field.Forbidden(root.Child("verification"), "a Job is asked itself what became of it: leave this out"))
	}
	faults = append(faults, strayExpressions(path.Child("template"), &job.Template)...)
	made := &run{Options: c.options, template: job.Template, exitCodes: job.NotAppliedExitCodes}
	var wrong field.ErrorList
	made.texts, wrong = texts(path.Child("template", "spec", "template", "spec"), &made.template.Spec.Template.Spec, env)
	faults = append(faults, wrong...)
	faults = append(faults, exitCodes(path.Child("notAppliedExitCodes"), job.NotAppliedExitCodes)...)
	if len(faults) > 0 {
		return nil, effect.Traits{}, faults
	}
	made.main = mainContainer(&made.template)
	complete(&made.template)
	return made, traits(&job.Receiver), nil
}

func traits(receiver *v1alpha1.Receiver) effect.Traits {
	t := effect.Traits{
		Timeout: createTimeout, VerifyTimeout: createTimeout, Verifies: true, Detached: true, Prepares: true, ReplaySafe: receiver.Idempotent,
	}
	if receiver.Idempotent {
		t.RemembersFor = defaultRemembersFor
		if receiver.RemembersFor != nil {
			t.RemembersFor = receiver.RemembersFor.Duration
		}
	}
	return t
}

// exitCodes repeats what the kind's schema says: a code above 127 is the runtime's, or that of a signal.
func exitCodes(path *field.Path, codes []int32) field.ErrorList {
	var faults field.ErrorList
	for i, code := range codes {
		if code < 1 || code > 127 {
			faults = append(faults, field.Invalid(path.Index(i), code, "must be from 1 to 127: 0 is success, and a code above 127 is that of a signal, which says nothing about the effect"))
		}
	}
	return faults
}
