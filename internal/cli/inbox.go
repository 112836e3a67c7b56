package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/inbox"
)

func newInbox(s *session) *cobra.Command {
	output := newOutput()
	command := &cobra.Command{
		Use: "inbox", GroupID: groupLook, Args: cobra.NoArgs,
		Short: "List everything that waits for a person, oldest first, in all namespaces",
		Long: `List everything that waits for a person, oldest first: approvals, outcomes that nobody knows, missing and suspended templates,
missing Secrets; also actions whose submission was deleted. It looks into all namespaces, or with -n into one. What waits for
a time, a limit or another submission is not listed: it goes on by itself.`,
		Example: `kubectl taskonce inbox

# Only one namespace
kubectl taskonce inbox -n shop

# Each with its story
kubectl taskonce inbox -n shop -o name | xargs kubectl taskonce explain -n shop`,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, err := s.connect()
			if err != nil {
				return err
			}
			namespace := ""
			if *s.flags.Namespace != "" {
				namespace = c.namespace
			}
			waiting, err := c.inbox(command.Context(), namespace)
			switch {
			case apierrors.IsForbidden(err) && namespace == "":
				return fmt.Errorf("%w; with -n NAMESPACE it looks into one namespace only", err)
			case err != nil:
				return err
			case !output.human():
				return output.printList(s.Out, objectsOf(waiting))
			case len(waiting) == 0:
				fmt.Fprintln(s.ErrOut, "Nothing waits for a person.")
				return nil
			}
			return writeInbox(s.Out, waiting, s.now())
		},
	}
	output.addFlags(command)
	return command
}

// inbox returns what waits for a person, oldest first. An empty namespace stands for all of them.
func (c *cluster) inbox(ctx context.Context, namespace string) ([]*subject, error) {
	submissions := &v1alpha1.TaskSubmissionList{}
	if err := c.api.List(ctx, submissions, client.InNamespace(namespace), client.MatchingFields{"status.phase": string(v1alpha1.PhasePending)}); err != nil {
		return nil, err
	}
	begun := &v1alpha1.TaskSubmissionList{}
	if err := c.api.List(ctx, begun, client.InNamespace(namespace), client.MatchingFields{"status.phase": string(v1alpha1.PhaseProcessing)}); err != nil {
		return nil, err
	}
	var candidates []v1alpha1.TaskSubmission
	there := map[types.NamespacedName]bool{}
	for _, submission := range slices.Concat(submissions.Items, begun.Items) {
		there[client.ObjectKeyFromObject(&submission)] = true
		if reason := submission.Status.Reason; inbox.Asks(reason) != "" || inbox.MayAsk(reason) {
			candidates = append(candidates, submission)
		}
	}
	all, err := c.completeAll(ctx, candidates)
	if err != nil {
		return nil, err
	}
	waiting := slices.DeleteFunc(all, func(s *subject) bool { return s.WaitsFor() == "" })
	left, err := c.leftBehind(ctx, namespace, there)
	waiting = append(waiting, left...)
	slices.SortStableFunc(waiting, func(a, b *subject) int {
		if byTime := a.Since().Compare(b.Since()); byTime != 0 {
			return byTime
		}
		return strings.Compare(a.Name.String(), b.Name.String())
	})
	return waiting, err
}

// leftBehind returns actions that ask although their submission is gone. Those that are there are not read once more.
func (c *cluster) leftBehind(ctx context.Context, namespace string, there map[types.NamespacedName]bool) ([]*subject, error) {
	selector, err := labels.Parse(inbox.Candidates)
	if err != nil {
		return nil, err
	}
	records, err := c.abandoned(ctx, &client.ListOptions{Namespace: namespace, LabelSelector: selector, Limit: recordsAtOnce})
	if err != nil {
		return nil, err
	}
	var left []*subject
	for _, record := range records {
		name := types.NamespacedName{Namespace: record.Namespace, Name: record.Spec.Action.Submission.Name}
		if there[name] {
			continue
		}
		err := c.api.Get(ctx, name, &v1alpha1.TaskSubmission{})
		if client.IgnoreNotFound(err) != nil {
			return nil, err
		}
		if err != nil {
			left = append(left, &subject{inbox.Subject{Name: name, Record: record}})
		}
	}
	return left, nil
}

// recordsAtOnce bounds what one request holds in memory: of those that are kept for good there may be any number.
const recordsAtOnce = 100

// abandoned returns the records that ask for a person, should their submission be gone, of a list that is read page by page.
func (c *cluster) abandoned(ctx context.Context, options *client.ListOptions) ([]*v1alpha1.TaskRecord, error) {
	var asking []*v1alpha1.TaskRecord
	for {
		page := &v1alpha1.TaskRecordList{}
		if err := c.api.List(ctx, page, options); err != nil {
			return nil, err
		}
		for i := range page.Items {
			if record := &page.Items[i]; inbox.Abandoned(record) {
				asking = append(asking, record.DeepCopy()) // its page is not held for it
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return asking, nil
		}
	}
}

func objectsOf(waiting []*subject) []client.Object {
	var all []client.Object
	for _, s := range waiting {
		if s.Submission != nil {
			all = append(all, s.Submission)
		} else {
			all = append(all, s.Record)
		}
	}
	return all
}

func writeInbox(w io.Writer, waiting []*subject, now time.Time) error {
	err := table(w, func(row func(...any)) {
		row("NAMESPACE", "NAME", "WAITS", "REASON", "FOR")
		for _, s := range waiting {
			row(s.Name.Namespace, s.Name.Name, duration.HumanDuration(now.Sub(s.Since())), s.Reason(), s.WaitsFor())
		}
	})
	fmt.Fprintf(w, "\nFor the story of one, and the commands: kubectl taskonce explain NAME -n NAMESPACE\n")
	return err
}
