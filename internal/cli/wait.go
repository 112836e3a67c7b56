package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

func newWait(s *session) *cobra.Command {
	var targets targets
	var timeout time.Duration
	output := newOutput()
	command := &cobra.Command{
		Use: "wait NAME...", GroupID: groupSubmit,
		Short: "Wait until submissions have finished, or until a person must decide",
		Long: `Wait until submissions have finished, or until a person must say what came of one (OutcomeUnknown).

The exit code tells Success (0), Failed (2) and unknown (3) apart; unknown is also what has not finished by --timeout, and
what was deleted meanwhile. A watch that is cut is taken up again. "kubectl wait --for=condition=Finished" waits for the
same end, without telling what it was.`,
		Example: `kubectl taskonce wait award-42-stu-7 --timeout=2m

# All of one template
kubectl taskonce wait --field-selector=spec.templateRef.name=award-points`,
		RunE: func(command *cobra.Command, args []string) error {
			if err := errors.Join(output.check(), targets.check(command, args)); err != nil {
				return err
			}
			c, err := s.connect()
			if err != nil {
				return err
			}
			ctx, cancel := limited(command.Context(), timeout)
			defer cancel()
			names, err := targets.all(ctx, s, c, args)
			if err != nil {
				return err
			}
			return s.waitFor(ctx, c, names, output)
		},
		ValidArgsFunction: s.completeSubmissions(func(subject *subject) bool { return !subject.phase().Terminal() }),
	}
	output.addFlags(command)
	targets.addFlags(command.Flags())
	command.Flags().DurationVar(&timeout, "timeout", 30*time.Second, "How long to wait. Zero: without end.")
	return command
}

// all returns the names of what is named or selected.
func (t *targets) all(ctx context.Context, s *session, c *cluster, args []string) ([]types.NamespacedName, error) {
	if !t.selects() {
		return t.names(ctx, s, c, args)
	}
	found, err := t.selected(ctx, c)
	var names []types.NamespacedName
	for i := range found {
		names = append(names, client.ObjectKeyFromObject(&found[i]))
	}
	if err == nil && len(names) == 0 {
		err = errors.New("no matching resources found")
	}
	return names, err
}

func (s *session) waitFor(ctx context.Context, c *cluster, names []types.NamespacedName, output *output) error {
	return tellAll(s, output, names, func(name types.NamespacedName) submitted {
		object, err := await(ctx, name.Name, func(ctx context.Context, enough func(*v1alpha1.TaskSubmission) bool) (*v1alpha1.TaskSubmission, error) {
			return c.submitter.Follow(ctx, name, enough)
		})
		if object == nil {
			return submitted{err: err}
		}
		return submitted{object: object, line: titled(name.Name) + " " + standing(object), err: err}
	})
}
