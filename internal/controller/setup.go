package controller

import (
	"context"
	"errors"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Names of the cache's indexes.
const (
	indexTemplate   = "spec.templateRef.name"
	indexSubmission = "spec.submission"
)

// CacheOptions is what the manager's cache must hold: submissions that have not finished and decisions that are
// pending, and Jobs of ours, all without managed fields. Memory grows with the work in hand, not with history. It holds those of
// some namespaces, or of all where none is named.
func CacheOptions(namespaces []string) cache.Options {
	return cache.Options{
		DefaultNamespaces: watched(namespaces),
		DefaultTransform:  cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&v1alpha1.TaskSubmission{}: {Field: unfinished},
			&batchv1.Job{}:             {Label: jobsOfOurs, Transform: stripJob},
			&v1alpha1.TaskDecision{}:   {Field: unanswered},
		},
	}
}

func watched(namespaces []string) map[string]cache.Config {
	if len(namespaces) == 0 {
		return nil
	}
	each := map[string]cache.Config{}
	for _, namespace := range namespaces {
		each[namespace] = cache.Config{}
	}
	return each
}

// ClientOptions is how the manager's client must read: records, Secrets, Jobs and pods live, the rest from the cache.
func ClientOptions() client.Options {
	return client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&v1alpha1.TaskRecord{}, &corev1.Secret{}, &corev1.Pod{}, &batchv1.Job{}}}}
}

// SetupWithManager registers the reconciler with workers that reconcile at once, and what drains it on shutdown
// within the grace period.
func (r *Submissions) SetupWithManager(mgr ctrl.Manager, workers int, grace time.Duration) error {
	if err := errors.Join(index(mgr), warm(mgr)); err != nil {
		return err
	}
	if err := mgr.Add(&drainer{submissions: r, grace: grace}); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		// Status is ours alone: what we write there is no news. Deleting an object raises its generation.
		For(&v1alpha1.TaskSubmission{}, builder.WithPredicates(predicate.GenerationChangedPredicate{}, r.pace.predicate(r.Clock.Now))).
		Watches(&v1alpha1.TaskTemplate{}, handler.EnqueueRequestsFromMapFunc(r.ofTemplate), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&batchv1.Job{}, r.jobEvents(), builder.WithPredicates(jobsThatMatter)).
		Watches(&v1alpha1.TaskDecision{}, handler.EnqueueRequestsFromMapFunc(ofDecision)).
		WatchesRawSource(&r.queue).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		WithLogConstructor(logOf(mgr.GetLogger().WithValues("controller", "submission"))).
		Named("submission").
		Complete(r)
}

// logOf names the action in the log of a pass, and nothing else: what a log has is encoded for each pass, and hardly any
// pass writes a line.
func logOf(log logr.Logger) func(*reconcile.Request) logr.Logger {
	return func(request *reconcile.Request) logr.Logger {
		if request == nil {
			return log
		}
		return log.WithValues("namespace", request.Namespace, "name", request.Name)
	}
}

// warm has replicas that do not lead hold what they will work on, as indexing does for submissions and decisions: a controller
// asks for it only when it begins. Its queue would grow meanwhile, so that is left to begin with the lead.
func warm(mgr ctrl.Manager) error {
	_, templates := mgr.GetCache().GetInformer(context.Background(), &v1alpha1.TaskTemplate{}, cache.BlockUntilSynced(false))
	_, jobs := mgr.GetCache().GetInformer(context.Background(), &batchv1.Job{}, cache.BlockUntilSynced(false))
	return errors.Join(templates, jobs)
}

func index(mgr ctrl.Manager) error {
	indexer := mgr.GetFieldIndexer()
	err := indexer.IndexField(context.Background(), &v1alpha1.TaskSubmission{}, indexTemplate, func(object client.Object) []string {
		return []string{object.(*v1alpha1.TaskSubmission).Spec.TemplateRef.Name}
	})
	if err != nil {
		return err
	}
	return indexer.IndexField(context.Background(), &v1alpha1.TaskDecision{}, indexSubmission, func(object client.Object) []string {
		return []string{object.(*v1alpha1.TaskDecision).Spec.Submission}
	})
}

// ofTemplate returns the submissions that a template's edit may set going.
func (r *Submissions) ofTemplate(ctx context.Context, template client.Object) []reconcile.Request {
	list := &v1alpha1.TaskSubmissionList{}
	if err := r.Client.List(ctx, list, client.InNamespace(template.GetNamespace()), client.MatchingFields{indexTemplate: template.GetName()}); err != nil {
		return nil
	}
	requests := make([]reconcile.Request, len(list.Items))
	for i := range list.Items {
		requests[i].NamespacedName = client.ObjectKeyFromObject(&list.Items[i])
	}
	return requests
}

func ofDecision(_ context.Context, object client.Object) []reconcile.Request {
	decision := object.(*v1alpha1.TaskDecision)
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: decision.Namespace, Name: decision.Spec.Submission}}}
}
