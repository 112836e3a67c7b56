package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/pkg/submit"
)

// submitting is the command submit.
type submitting struct {
	*session
	output    *output
	files     files
	params    parameters
	key       string
	keyParts  []string
	notBefore string
	notAfter  string
	dryRun    dryRun
	wait      bool
	timeout   time.Duration

	cluster *cluster
}

func newSubmit(s *session) *cobra.Command {
	o := &submitting{session: s, output: newOutput()}
	command := &cobra.Command{
		Use:   "submit TEMPLATE --key KEY [-p NAME=TEXT]... | submit -f FILE",
		Short: "Submit an action, or a file of many, once",
		Long: `Submit an action, or a file of many, once.

Submitting is safe to repeat: the same key is the same action. Where the answer is lost, it is read back and compared,
until --timeout. What was there already is told apart from what is new, and from another action under the same key.
A manifest may leave metadata.name out where it has an idempotencyKey.`,
		Example: `# Award points, and wait for what comes of it
kubectl taskonce submit award-points --key task:42:stu-7:3 -p taskId:=42 -p studentId=stu-7 -p submitVersion:=3 -p points:=10 --wait

# The key of parts that may hold colons
kubectl taskonce submit refund-order --key-part refund --key-part 1001 -p orderId=1001

# Many, from a file
kubectl taskonce submit -f night-run.yaml --wait --timeout=10m`,
		GroupID: groupSubmit,
		RunE: func(command *cobra.Command, args []string) error {
			objects, err := o.objects(command, args)
			if err != nil {
				return err
			}
			return o.run(command.Context(), objects)
		},
		ValidArgsFunction: s.completeTemplates,
	}
	flags := command.Flags()
	o.output.addFlags(command)
	o.files.flags("Files with TaskSubmissions to submit; - is standard input.").AddFlags(flags)
	o.params.addFlags(flags)
	o.dryRun.addFlags(flags)
	flags.StringVar(&o.key, "key", "", "The idempotency key: your name for the action. The same action, tried again, has the same key.")
	flags.StringArrayVar(&o.keyParts, "key-part", nil, "One part of the key. May be repeated; the parts are joined so that different parts never make the same key.")
	flags.StringVar(&o.notBefore, "not-before", "", "Do not begin before this time (RFC 3339).")
	flags.StringVar(&o.notAfter, "not-after", "", "Fail where it has not begun by this time (RFC 3339).")
	flags.BoolVar(&o.wait, "wait", false, "Wait until it has finished, or until a person must decide.")
	flags.DurationVar(&o.timeout, "timeout", 30*time.Second, "How long to try and to wait, all in all. Zero: without end.")
	return command
}

// objects returns what is to be submitted.
func (o *submitting) objects(command *cobra.Command, args []string) ([]*v1alpha1.TaskSubmission, error) {
	if err := errors.Join(o.output.check(), o.dryRun.check()); err != nil {
		return nil, err
	}
	single := o.key != "" || len(o.keyParts) > 0 || o.params.given() || o.notBefore != "" || o.notAfter != ""
	switch {
	case o.files.given() && (single || len(args) > 0):
		return nil, usage(command, "a file says all there is to say: give either a file, or a TEMPLATE with flags")
	case o.files.given():
		objects, err := o.files.submissions(command.Context(), o.session)
		if err == nil && len(objects) == 0 {
			err = errors.New("no objects passed to submit")
		}
		return objects, err
	case len(args) != 1:
		return nil, usage(command, "exactly one TEMPLATE, or -f FILE, is needed")
	case (o.key == "") == (len(o.keyParts) == 0):
		return nil, usage(command, "either --key or --key-part is needed: your name for the action, which the same action has again when you repeat it")
	}
	object, err := o.object(args[0])
	return []*v1alpha1.TaskSubmission{object}, err
}

func (o *submitting) object(template string) (*v1alpha1.TaskSubmission, error) {
	params, err := o.params.JSON()
	if err != nil {
		return nil, err
	}
	object := &v1alpha1.TaskSubmission{Spec: v1alpha1.TaskSubmissionSpec{
		IdempotencyKey: o.key, TemplateRef: v1alpha1.TemplateRef{Name: template}, Parameters: apiextensionsv1.JSON{Raw: params},
	}}
	if o.key == "" {
		object.Spec.IdempotencyKey = submit.Key(o.keyParts...)
	}
	if object.Spec.NotBefore, err = moment("--not-before", o.notBefore); err != nil {
		return nil, err
	}
	object.Spec.NotAfter, err = moment("--not-after", o.notAfter)
	return object, err
}

func moment(flag, given string) (*metav1.Time, error) {
	if given == "" {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339, given)
	if err != nil {
		return nil, fmt.Errorf("%s: %q is no time such as 2027-01-31T06:00:00Z", flag, given)
	}
	return &metav1.Time{Time: at}, nil
}

// run submits all of them. What is wrong with any of them by itself is said before anything is sent.
func (o *submitting) run(ctx context.Context, objects []*v1alpha1.TaskSubmission) error {
	var err error
	if o.cluster, err = o.connect(); err != nil {
		return err
	}
	var prepared []*submit.Submission
	for i, object := range objects {
		if object.Namespace == "" {
			object.Namespace = o.cluster.namespace
		} else if o.cluster.explicit && object.Namespace != o.cluster.namespace {
			return fmt.Errorf("the namespace from the provided object %q does not match the namespace %q", object.Namespace, o.cluster.namespace)
		}
		s, err := o.cluster.submitter.PrepareObject(object)
		if err != nil {
			return fmt.Errorf("submission %d (key %q): %w", i+1, object.Key(), err)
		}
		prepared = append(prepared, s)
	}
	ctx, cancel := limited(ctx, o.timeout)
	defer cancel()
	return tellAll(o.session, o.output, prepared, func(s *submit.Submission) submitted { return o.one(ctx, s) })
}

// one submits one action.
func (o *submitting) one(ctx context.Context, s *submit.Submission) submitted {
	if o.dryRun != "none" {
		return o.rehearse(ctx, s)
	}
	receipt, err := s.Submit(ctx)
	if err != nil {
		return submitted{err: notSubmitted(s, err)}
	}
	line := titled(s.Name()) + " submitted"
	if receipt.Answer == submit.Duplicate {
		line += sameBefore
	}
	if !o.wait {
		return submitted{object: receipt.Object, line: line}
	}
	done, err := await(ctx, s.Name(), s.Follow)
	if done == nil {
		done = receipt.Object
	}
	return submitted{object: done, line: titled(s.Name()) + " " + standing(done), err: err}
}

// sameBefore is what is said of a duplicate.
const sameBefore = " before, with the same template and parameters"

// notSubmitted words why, with the exit code.
func notSubmitted(s *submit.Submission, err error) error {
	var unknown *submit.UnknownError
	var other *submit.OtherPayloadError
	var refusal *submit.RefusedError
	var blocked *submit.BlockedError
	switch {
	case errors.As(err, &unknown), errors.As(err, &blocked) && !blocked.Existing.Invalid():
		return &coded{exitUnknown, err}
	case errors.As(err, &other), errors.As(err, &blocked):
		return &coded{exitRefused, err}
	case errors.As(err, &refusal):
		err = refusal.Err
	}
	if refused(err) {
		return failed(exitRefused, "the submission %q was refused: %w", s.Name(), err)
	}
	return failed(exitError, "the submission %q was not created: %w", s.Name(), err)
}
