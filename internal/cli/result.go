package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

func newResult(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "result NAME", GroupID: groupSubmit,
		Short: "Print the result of a submission as JSON",
		Long: `Print the result of a submission as JSON, and nothing else on standard output. The exit code tells Success (0), Failed (2) and
not finished (3) apart. Where the submission was deleted, its record answers those who may read it. A Success without a result prints null.`,
		Example: `kubectl taskonce result award-42-stu-7

kubectl taskonce result award-42-stu-7 | jq .receipt`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			name, err := submissionNamed(args[0])
			if err != nil {
				return err
			}
			c, err := s.connect()
			if err != nil {
				return err
			}
			subject, err := c.load(command.Context(), types.NamespacedName{Namespace: c.namespace, Name: name}, alone)
			if err != nil {
				return err
			}
			result, err := subject.result()
			if err == nil {
				fmt.Fprintln(s.Out, result)
			}
			return err
		},
		ValidArgsFunction: s.completeSubmissions(func(subject *subject) bool { return subject.phase() == v1alpha1.PhaseSuccess }),
	}
}

// result returns the result as JSON on one line, or what there is instead of one.
func (s *subject) result() (string, error) {
	var raw *apiextensionsv1.JSON
	if s.Submission != nil {
		if err := endOf(s.Submission); err != nil {
			return "", err
		}
		raw = s.Submission.Status.Result
	} else {
		action := s.Action()
		switch action.Phase {
		case v1alpha1.PhaseFailed:
			return "", failed(exitFailed, "%s is Failed (%s): %s", s.Name.Name, action.Reason, action.Message)
		case v1alpha1.PhaseProcessing:
			return "", failed(exitUnknown, "%s has not finished (%s): %s", s.Name.Name, s.standing(), action.Message)
		}
		raw = action.Result
	}
	if raw == nil {
		return "null", nil
	}
	return oneLine(raw.Raw), nil
}
