package record

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// pageSize bounds what one request of a sweep transfers.
const pageSize = 200

// EachDue calls visit for every record of a namespace (empty: of all) that is due, page by page: what is transferred is what is due, and not what
// exists. A visit that fails is the visitor's to report; the sweep goes on. The visitor may keep the record.
func (s *Store) EachDue(ctx context.Context, namespace string, now time.Time, visit func(*v1alpha1.TaskRecord)) error {
	selector, err := labels.Parse(fmt.Sprintf("%s<%s", v1alpha1.LabelDue, strconv.FormatInt(now.Unix(), 10)))
	if err != nil {
		return err
	}
	return s.each(ctx, visit, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: selector})
}

// EachAsking calls visit for every record of a namespace (empty: of all) whose outcome a person has to say, in the same way.
func (s *Store) EachAsking(ctx context.Context, namespace string, visit func(*v1alpha1.TaskRecord)) error {
	return s.each(ctx, visit, client.InNamespace(namespace), client.MatchingFields{"spec.action.reason": string(v1alpha1.ReasonOutcomeUnknown)})
}

// each pages through the records that are selected, but for claims.
func (s *Store) each(ctx context.Context, visit func(*v1alpha1.TaskRecord), selected ...client.ListOption) error {
	for next := ""; ; {
		page := &v1alpha1.TaskRecordList{} // its own: what is decoded into a page that was used mixes with what it held
		if err := s.Client.List(ctx, page, append(selected, client.Limit(pageSize), client.Continue(next))...); err != nil {
			return err
		}
		for i := range page.Items {
			if page.Items[i].Spec.Action != nil {
				visit(&page.Items[i])
			}
		}
		if next = page.Continue; next == "" || ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// OfSubmission returns the records that guard submissions of a name, live; more than one only after a hash collision.
func (s *Store) OfSubmission(ctx context.Context, namespace, name string) ([]v1alpha1.TaskRecord, error) {
	list := &v1alpha1.TaskRecordList{}
	err := s.Client.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{v1alpha1.LabelSubmission: name})
	return list.Items, err
}
