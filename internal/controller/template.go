package controller

import (
	"context"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// +kubebuilder:rbac:groups=taskonce.dev,resources=tasktemplates,verbs=get;list;watch
// +kubebuilder:rbac:groups=taskonce.dev,resources=tasktemplates/status,verbs=update

// Templates says of every template whether it compiles.
type Templates struct {
	Client client.Client
	Plans  *Plans
}

// SetupWithManager registers the reconciler.
func (r *Templates) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.TaskTemplate{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Named("template").
		Complete(r)
}

// Reconcile compiles a template and writes the condition Ready where it changed.
func (r *Templates) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	template := &v1alpha1.TaskTemplate{}
	if err := r.Client.Get(ctx, request.NamespacedName, template); err != nil {
		if client.IgnoreNotFound(err) == nil {
			r.Plans.Forget(request.NamespacedName)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, err
	}
	status := r.statusOf(template)
	if equality.Semantic.DeepEqual(template.Status, status) {
		return ctrl.Result{}, nil
	}
	template = template.DeepCopy()
	template.Status = status
	err := r.Client.Status().Update(ctx, template)
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: conflictDelay}, nil
	}
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

func (r *Templates) statusOf(template *v1alpha1.TaskTemplate) v1alpha1.TaskTemplateStatus {
	status := *template.Status.DeepCopy()
	status.ObservedGeneration = template.Generation
	ready := metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: "Compiled",
		Message: "submissions can use it", ObservedGeneration: template.Generation,
	}
	compiled, faults := r.Plans.For(template)
	if status.EffectDigest = ""; compiled != nil {
		status.EffectDigest = compiled.Digest
	} else {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, "Invalid", fitting(faults.ToAggregate().Error())
	}
	meta.SetStatusCondition(&status.Conditions, ready)
	if ready.Status == metav1.ConditionTrue {
		meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionStalled)
	} else {
		ready.Type, ready.Status = v1alpha1.ConditionStalled, metav1.ConditionTrue
		meta.SetStatusCondition(&status.Conditions, ready)
	}
	return status
}

// fitting cuts a message to what a condition may hold.
func fitting(message string) string {
	const limit = 8 << 10
	if len(message) <= limit {
		return message
	}
	end := limit
	for end > 0 && !utf8.RuneStart(message[end]) {
		end--
	}
	return message[:end] + "…"
}
