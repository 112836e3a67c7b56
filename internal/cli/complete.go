package cli

import (
	"context"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/inbox"
)

type completion = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// completeSubmissions completes names of submissions that a command is of use for, as far as their status says. Their
// records are not read: a completion is asked for at each key stroke.
func (s *session) completeSubmissions(fits func(*subject) bool) completion {
	return func(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		list := &v1alpha1.TaskSubmissionList{}
		if err := s.list(command.Context(), list); err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		given := map[string]bool{}
		for _, arg := range args {
			given[arg] = true
		}
		var names []string
		for i := range list.Items {
			submission := &list.Items[i]
			if !given[submission.Name] && fits(&subject{inbox.Subject{Submission: submission, Record: glimpse(submission)}}) {
				names = append(names, submission.Name+"\t"+standing(submission))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// glimpse is what the status lets one think of the record.
func glimpse(submission *v1alpha1.TaskSubmission) *v1alpha1.TaskRecord {
	status := &submission.Status
	if status.RecordName == "" {
		return nil
	}
	action := &v1alpha1.Action{Phase: status.Phase, Reason: status.Reason, DuplicateOf: status.DuplicateOf, Claim: status.BusinessKey}
	switch status.Reason {
	case v1alpha1.ReasonOutcomeUnknown, v1alpha1.ReasonVerifying, v1alpha1.ReasonInProgress, v1alpha1.ReasonExecuting:
		action.Unsettled = true
	}
	return &v1alpha1.TaskRecord{Spec: v1alpha1.TaskRecordSpec{Action: action}}
}

func (s *session) completeTemplates(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list := &v1alpha1.TaskTemplateList{}
	if err := s.list(command.Context(), list); err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// list lists what is in the namespace of the command line.
func (s *session) list(ctx context.Context, list client.ObjectList) error {
	c, err := s.connect()
	if err != nil {
		return err
	}
	return c.api.List(ctx, list, client.InNamespace(c.namespace))
}
