package controller

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	events "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// jobsOfOurs selects the Jobs that the cache holds: those that are run for a submission.
var jobsOfOurs = labels.NewSelector().Add(must(labels.NewRequirement(v1alpha1.LabelSubmission, selection.Exists, nil)))

func must[T any](value *T, err error) T {
	if err != nil {
		panic(err)
	}
	return *value
}

// stripJob drops what nobody reads from the cache: most of a Job is its pod template.
func stripJob(object any) (any, error) {
	if job, ok := object.(*batchv1.Job); ok {
		job.ManagedFields = nil
		job.Spec.Template = corev1.PodTemplateSpec{}
	}
	return object, nil
}

// jobsThatMatter leaves out the updates that say nothing new: how many pods are ready, and Jobs that were let go.
var jobsThatMatter = predicate.Funcs{
	CreateFunc: func(e events.CreateEvent) bool { return ownedByRecord(e.Object) },
	DeleteFunc: func(e events.DeleteEvent) bool { return ownedByRecord(e.Object) },
	UpdateFunc: func(e events.UpdateEvent) bool {
		before, after := e.ObjectOld.(*batchv1.Job), e.ObjectNew.(*batchv1.Job)
		same := equality.Semantic.DeepEqual(before.Status.Conditions, after.Status.Conditions) &&
			ptr.Equal(before.Spec.Suspend, after.Spec.Suspend) && before.DeletionTimestamp.Equal(after.DeletionTimestamp)
		return ownedByRecord(after) && !same
	},
}

func ownedByRecord(object client.Object) bool {
	for _, owner := range object.GetOwnerReferences() {
		if owner.Kind == "TaskRecord" && owner.APIVersion == v1alpha1.GroupVersion.String() {
			return true
		}
	}
	return false
}

// jobEvents wakes the action that a Job is run for. What runs when the process starts takes its place in the limits
// before anything begins: no worker starts before the first list was handed out.
func (r *Submissions) jobEvents() handler.EventHandler {
	tell := func(object client.Object, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		action := types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetLabels()[v1alpha1.LabelSubmission]}
		r.news.add(action)
		queue.Add(reconcile.Request{NamespacedName: action})
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e events.CreateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			if e.IsInInitialList {
				r.keepFor(e.Object.(*batchv1.Job))
			}
			tell(e.Object, queue)
		},
		UpdateFunc: func(_ context.Context, e events.UpdateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			tell(e.ObjectNew, queue)
		},
		DeleteFunc: func(_ context.Context, e events.DeleteEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			tell(e.Object, queue)
		},
	}
}

// keepFor takes a place for a Job that was started by an earlier process and has not finished.
func (r *Submissions) keepFor(job *batchv1.Job) {
	for _, condition := range job.Status.Conditions {
		finished := condition.Type == batchv1.JobComplete || condition.Type == batchv1.JobFailed
		if finished && condition.Status == corev1.ConditionTrue {
			return
		}
	}
	if !ptr.Deref(job.Spec.Suspend, false) {
		r.flights.Keep(
			types.NamespacedName{Namespace: job.Namespace, Name: job.Labels[v1alpha1.LabelSubmission]},
			types.NamespacedName{Namespace: job.Namespace, Name: job.Labels[v1alpha1.LabelTemplate]})
	}
}
