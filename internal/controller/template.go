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
	"github.com/taskonce/taskonce/internal/telemetry"
)

// +kubebuilder:rbac:groups=taskonce.dev,resources=tasktemplates,verbs=get;list;watch
// +kubebuilder:rbac:groups=taskonce.dev,resources=tasktemplates/status,verbs=update

// Templates says of every template whether it compiles, and whether its receiver accepts its credentials.
type Templates struct {
	Client client.Client
	Plans  *Plans
	// Receivers is shared with the submissions' reconciler.
	Receivers *Receivers
	// Events tells people of templates that cannot be used; nil: nobody is told.
	Events *telemetry.Events
}

// SetupWithManager registers the reconciler.
func (r *Templates) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.TaskTemplate{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(&r.Receivers.changed).
		Named("template").
		Complete(r)
}

// Reconcile compiles a template and writes the conditions where they changed.
func (r *Templates) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	template := &v1alpha1.TaskTemplate{}
	if err := r.Client.Get(ctx, request.NamespacedName, template); err != nil {
		if client.IgnoreNotFound(err) == nil {
			r.Plans.Forget(request.NamespacedName)
			r.Receivers.forget(request.NamespacedName)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, err
	}
	status := r.statusOf(template)
	if equality.Semantic.DeepEqual(template.Status, status) {
		return ctrl.Result{}, nil
	}
	before := template.Status.Conditions
	template = template.DeepCopy()
	template.Status = status
	err := r.Client.Status().Update(ctx, template)
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: conflictDelay}, nil
	}
	if err == nil {
		r.Events.Template(template, before)
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
	before := status.EffectDigest
	if status.EffectDigest = ""; compiled != nil {
		status.EffectDigest = compiled.Digest
	} else {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, "Invalid", fitting(faults.ToAggregate().Error())
	}
	if status.EffectDigest != before { // what was heard was of another effect
		meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionReceiverHealthy)
	}
	r.setHealth(template, &status)
	meta.SetStatusCondition(&status.Conditions, ready)
	if ready.Status == metav1.ConditionTrue {
		meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionStalled)
	} else {
		ready.Type, ready.Status = v1alpha1.ConditionStalled, metav1.ConditionTrue
		meta.SetStatusCondition(&status.Conditions, ready)
	}
	return status
}

// setHealth says whether the receiver accepts the template's credentials, as soon as that is known. What an earlier
// process said stands until then.
func (r *Templates) setHealth(template *v1alpha1.TaskTemplate, status *v1alpha1.TaskTemplateStatus) {
	accepted, message, known := r.Receivers.health(client.ObjectKeyFromObject(template), status.EffectDigest)
	if !known {
		return
	}
	healthy := metav1.Condition{
		Type: v1alpha1.ConditionReceiverHealthy, Status: metav1.ConditionTrue, Reason: "CredentialsAccepted",
		Message: "the receiver accepts the template's credentials", ObservedGeneration: template.Generation,
	}
	if !accepted {
		healthy.Status, healthy.Reason = metav1.ConditionFalse, "CredentialsRefused"
		healthy.Message = fitting(message + "; nothing new begins but one submission at a time, which finds out whether they are accepted: correct the Secrets that the template names, or the template")
	}
	meta.SetStatusCondition(&status.Conditions, healthy)
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
