package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// What has no record that would be due for it (a judged decision, a submission that failed without one) is labelled with
// when it is due itself: by the first sweep that meets it, so that nothing on the way of an action writes for that.

// pageSize bounds what one request of a sweep transfers.
const pageSize = 200

// eachDue calls visit, page by page, for every selected object of a namespace (empty: of all) that is due, or is not labelled
// yet with when it is. The visitor may keep the object.
func (r *Submissions) eachDue(ctx context.Context, namespace string, page func() client.ObjectList, selects fields.Selector, visit func(client.Object)) error {
	for _, labelled := range []string{"!" + v1alpha1.LabelDue, fmt.Sprintf("%s<%d", v1alpha1.LabelDue, r.Clock.Now().Unix())} {
		selector, err := labels.Parse(labelled)
		if err != nil {
			return err
		}
		options := client.ListOptions{Namespace: namespace, FieldSelector: selects, LabelSelector: selector, Limit: pageSize}
		if err := r.eachPage(ctx, page, options, visit); err != nil {
			return err
		}
	}
	return nil
}

func (r *Submissions) eachPage(ctx context.Context, page func() client.ObjectList, options client.ListOptions, visit func(client.Object)) error {
	for {
		read := page() // its own, as in record.Store.EachDue
		if err := r.Live.List(ctx, read, &options); err != nil {
			return err
		}
		err := meta.EachListItem(read, func(item runtime.Object) error {
			visit(item.(client.Object))
			return nil
		})
		if options.Continue = read.GetContinue(); err != nil || options.Continue == "" || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
	}
}

// postpone labels an object, if it is still as it was read, with when to look at it again.
func (r *Submissions) postpone(ctx context.Context, read client.Object, label map[string]string) error {
	next := read.DeepCopyObject().(client.Object)
	all := maps.Clone(next.GetLabels())
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, label)
	next.SetLabels(all)
	return client.IgnoreNotFound(r.Client.Patch(ctx, next, client.MergeFromWithOptions(read, client.MergeFromWithOptimisticLock{})))
}

// deleteAsRead deletes an object if it is still that very object, as it was read. NotFound says that somebody else was first.
func (r *Submissions) deleteAsRead(ctx context.Context, read client.Object) error {
	uid, version := read.GetUID(), read.GetResourceVersion()
	return r.Client.Delete(ctx, read, client.Preconditions{UID: &uid, ResourceVersion: &version})
}
