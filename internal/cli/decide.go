package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// decide is a command that makes a decision about one submission, or about many.
type decide struct {
	*session
	kind    *deciding
	output  *output
	targets targets
	dryRun  dryRun
	reason  string
	result  string
	digest  string
	yes     bool
	wait    bool
	timeout time.Duration

	cluster *cluster
}

func newDecide(s *session, kind *deciding) *cobra.Command {
	o := &decide{session: s, kind: kind, output: newOutput()}
	command := &cobra.Command{
		Use: kind.verb + " NAME... --reason REASON", Short: kind.short, Example: kind.example, GroupID: groupDecide,
		Long: kind.long + `

The decision is a TaskDecision: an object that says who decided what and why, and is judged once. Deciding the same twice
is one decision. For several submissions a preview is shown first; it asks on a terminal, and needs --yes elsewhere.`,
		RunE: func(command *cobra.Command, args []string) error {
			if err := errors.Join(o.output.check(), o.dryRun.check(), o.targets.check(command, args)); err != nil {
				return err
			}
			if strings.TrimSpace(o.reason) == "" {
				return usage(command, "--reason is needed: it is kept with the record, for whoever asks why")
			}
			return o.run(command.Context(), args)
		},
		ValidArgsFunction: s.completeSubmissions(kind.fits),
	}
	flags := command.Flags()
	o.output.addFlags(command)
	o.targets.addFlags(flags)
	o.dryRun.addFlags(flags)
	flags.StringVar(&o.reason, "reason", "", "Why. It is kept with the record.")
	flags.BoolVarP(&o.yes, "yes", "y", false, "Do not ask.")
	flags.BoolVar(&o.wait, "wait", true, "Wait until the operator has judged it.")
	flags.DurationVar(&o.timeout, "timeout", 30*time.Second, "How long to wait for that, when all are made. Zero: without end.")
	switch kind.action {
	case v1alpha1.DecisionConfirmApplied:
		flags.StringVar(&o.result, "result", "", "The result that every duplicate gets: JSON of at most 16 KiB.")
	case v1alpha1.DecisionApprove:
		flags.StringVar(&o.digest, "template-digest", "", "Approve only if the digest of the template's effect begins with this; sha256: may be left out.")
	}
	return command
}

func (o *decide) run(ctx context.Context, args []string) error {
	var err error
	if o.cluster, err = o.connect(); err != nil {
		return err
	}
	subjects, skipped, err := o.find(ctx, args)
	if err != nil {
		return err
	}
	if len(subjects) == 0 {
		return o.nothing(skipped)
	}
	if o.targets.selects() || len(subjects) > 1 {
		if err := o.agree(ctx, subjects, skipped); err != nil {
			return err
		}
	}
	return o.decideAll(ctx, subjects)
}

// find returns the subjects, and how many of a selection the decision is of no use for.
func (o *decide) find(ctx context.Context, args []string) (subjects []*subject, skipped int, err error) {
	if !o.targets.selects() {
		names, err := o.targets.names(ctx, o.session, o.cluster, args)
		if err != nil {
			return nil, 0, err
		}
		subjects, err = gather(names, func(name types.NamespacedName) (*subject, error) {
			return o.cluster.load(ctx, name, o.cluster.reader.Complete)
		})
		return subjects, 0, err
	}
	submissions, err := o.targets.selected(ctx, o.cluster)
	if err != nil {
		return nil, 0, err
	}
	all, err := o.cluster.completeAll(ctx, submissions)
	if err != nil {
		return nil, 0, err
	}
	for _, subject := range all {
		if o.kind.fits(subject) {
			subjects = append(subjects, subject)
		}
	}
	return subjects, len(all) - len(subjects), nil
}

// completeAll adds records and templates to many submissions, in their order.
func (c *cluster) completeAll(ctx context.Context, submissions []v1alpha1.TaskSubmission) ([]*subject, error) {
	return gather(submissions, func(submission v1alpha1.TaskSubmission) (*subject, error) { return c.complete(ctx, &submission) })
}

// gather reads many, several at once, in their order. The error is that of the first that could not be read.
func gather[T any](items []T, read func(T) (*subject, error)) (all []*subject, first error) {
	type result struct {
		*subject
		err error
	}
	inOrder(items, func(item T) result {
		s, err := read(item)
		return result{s, err}
	}, func(_ T, r result) {
		all = append(all, r.subject)
		if first == nil {
			first = r.err
		}
	})
	return all, first
}

func (o *decide) nothing(skipped int) error {
	if skipped == 0 {
		fmt.Fprintln(o.ErrOut, "No resources found.")
		return nil
	}
	fmt.Fprintf(o.ErrOut, "%s: of no use for any of the %d that were found.\n", o.kind.verb, skipped)
	return nil
}

// decideAll makes the decisions, waits until they are judged, and says what came of each. No decision waits for the judgement
// of another.
func (o *decide) decideAll(ctx context.Context, subjects []*subject) error {
	var decisions []made
	inOrder(subjects, func(subject *subject) made { return o.make(ctx, subject) }, func(_ *subject, m made) { decisions = append(decisions, m) })
	ctx, cancel := limited(ctx, o.timeout)
	defer cancel()
	tally := newTally(o.ErrOut)
	var all []client.Object
	inOrder(decisions, func(m made) made { return o.settle(ctx, m) }, func(_, m made) {
		if m.decision != nil {
			all = append(all, m.decision)
		}
		line, err := o.say(m)
		if line != "" && o.output.human() {
			fmt.Fprintln(o.Out, line)
		}
		tally.add(err)
	})
	return errors.Join(o.output.printAll(o.Out, all), tally.err())
}

// say words what came of one decision: a line, or an error with the exit code.
func (o *decide) say(m made) (string, error) {
	if m.decision == nil {
		return "", m.err
	}
	name, decision := titled(m.subject.Name.Name), m.decision
	switch state := decision.Status.State; {
	case state == v1alpha1.DecisionApplied && m.existed:
		return fmt.Sprintf("%s %s already%s: %s", name, o.kind.done, o.decided(decision), decision.Spec.Reason), nil
	case o.dryRun != "none":
		return name + " " + o.kind.done + o.dryRun.suffix(), nil
	case state == v1alpha1.DecisionApplied:
		return name + " " + o.kind.done, nil
	case state == v1alpha1.DecisionRefused, state == v1alpha1.DecisionSuperseded:
		return "", failed(exitRefused, "%s not %s: the operator has called the decision %s %s: %s", name, o.kind.done, decision.Name, state, decision.Status.Message)
	case !o.wait:
		return fmt.Sprintf("taskdecision.taskonce.dev/%s created", decision.Name), nil
	default:
		return "", &coded{exitUnknown, o.unjudged(m)}
	}
}

// unjudged says of a decision that is made why nobody knows yet what came of it.
func (o *decide) unjudged(m made) error {
	name, decision := titled(m.subject.Name.Name), m.decision
	switch {
	case m.err != nil:
		return fmt.Errorf("%s: the decision %s is made, and what came of it cannot be seen: %w", name, decision.Name, m.err)
	case decision.Status.Message != "":
		return fmt.Errorf("%s: the decision %s is made and waits: %s", name, decision.Name, decision.Status.Message)
	default:
		return fmt.Errorf("%s: the decision %s is made and not judged yet: is the operator running, or does somebody have to do something else first? See: kubectl taskonce explain %s -n %s",
			name, decision.Name, m.subject.Name.Name, m.subject.Name.Namespace)
	}
}

// decided says who made a decision, and when.
func (s *session) decided(decision *v1alpha1.TaskDecision) string {
	text := ""
	if by := decision.Annotations[v1alpha1.AnnotationDecidedBy]; by != "" {
		text = " by " + by
	}
	return text + ", " + s.ago(decision.CreationTimestamp.Time)
}
