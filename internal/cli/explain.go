package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

func newExplain(s *session) *cobra.Command {
	output := newOutput()
	command := &cobra.Command{
		Use: "explain NAME...", Aliases: []string{"get", "describe"}, GroupID: groupLook,
		Short: "Tell the story of a submission: every attempt and decision, why it waits, and what to do next",
		Long: `Tell the story of a submission: every attempt and decision, why it waits, and what to do next, as commands. Where the submission
was deleted, its record is told of. Who may not read records is told the rest. With -o the objects are printed: submission, record and decisions.`,
		Example: `kubectl taskonce explain print-letter-12

kubectl taskonce explain print-letter-12 -o yaml`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, err := s.connect()
			if err != nil {
				return err
			}
			var objects []client.Object
			for i, arg := range args {
				story, err := c.story(command.Context(), arg)
				if err != nil {
					return err
				}
				if output.human() {
					story.write(s.Out, s.now(), i > 0)
				}
				objects = append(objects, story.objects()...)
			}
			if output.human() {
				return nil
			}
			return output.print(s.Out, objects...)
		},
		ValidArgsFunction: s.completeSubmissions(func(*subject) bool { return true }),
	}
	output.addFlags(command)
	return command
}

// story is all that is known of one action.
type story struct {
	*subject
	decisions []v1alpha1.TaskDecision // oldest first
}

func (c *cluster) story(ctx context.Context, arg string) (*story, error) {
	name, err := submissionNamed(arg)
	if err != nil {
		return nil, err
	}
	subject, err := c.load(ctx, types.NamespacedName{Namespace: c.namespace, Name: name}, c.reader.Visible)
	if err != nil {
		return nil, err
	}
	list := &v1alpha1.TaskDecisionList{}
	if err := c.api.List(ctx, list, client.InNamespace(c.namespace), client.MatchingFields{"spec.submission": name}); err != nil {
		return nil, err
	}
	slices.SortFunc(list.Items, func(a, b v1alpha1.TaskDecision) int {
		if byTime := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); byTime != 0 {
			return byTime
		}
		return strings.Compare(a.Name, b.Name)
	})
	return &story{subject: subject, decisions: list.Items}, nil
}

func (s *story) objects() []client.Object {
	var all []client.Object
	if s.Submission != nil {
		all = append(all, s.Submission)
	}
	if s.Record != nil {
		all = append(all, s.Record)
	}
	for i := range s.decisions {
		all = append(all, &s.decisions[i])
	}
	return all
}
