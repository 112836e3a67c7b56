package admission

import (
	"context"
	"encoding/json"

	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Decisions writes into a decision who makes it and, into an approval that does not say it, what is approved.
type Decisions struct {
	// Cache holds templates, and the submissions that have not finished: those that can wait for an approval.
	Cache client.Reader
	// Live reads past the cache.
	Live  client.Reader
	Plans Plans
}

// Handle answers one request.
func (h *Decisions) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation == admissionv1.Update {
		return keepDecision(request)
	}
	decision := &v1alpha1.TaskDecision{}
	if err := json.Unmarshal(request.Object.Raw, decision); err != nil {
		return admission.Allowed("") // the kind's schema refuses it, and says where
	}
	decision.Namespace = request.Namespace
	patches := namePerson(decision, v1alpha1.AnnotationDecidedBy, request.UserInfo.Username)
	if decision.Spec.Action == v1alpha1.DecisionApprove && decision.Spec.TemplateDigest == "" {
		digest, err := h.digest(ctx, decision)
		if err != nil {
			return failed(err)
		}
		if digest != "" {
			patches = append(patches, jsonpatch.NewOperation("add", "/spec/templateDigest", digest))
		}
	}
	return admission.Patched("", patches...)
}

// keepDecision gives back to an update what it drops of what was written when the decision was made: who decided, and
// what an approval approves.
func keepDecision(request admission.Request) admission.Response {
	var old, updated v1alpha1.TaskDecision
	if !decodedBoth(request, &old, &updated) {
		return admission.Allowed("")
	}
	patches := keepPerson(&old, &updated, v1alpha1.AnnotationDecidedBy)
	if old.Spec.TemplateDigest != "" && updated.Spec.TemplateDigest == "" {
		patches = append(patches, jsonpatch.NewOperation("add", "/spec/templateDigest", old.Spec.TemplateDigest))
	}
	return admission.Patched("", patches...)
}

// digest returns that of the effect and verification as they are now, or "" where there is nothing to approve: the
// reconciler says so.
func (h *Decisions) digest(ctx context.Context, decision *v1alpha1.TaskDecision) (string, error) {
	named := &v1alpha1.TaskSubmission{}
	named.Namespace, named.Name = decision.Namespace, decision.Spec.Submission
	submission, err := find(ctx, h.Cache, named)
	if err == nil && submission == nil {
		submission, err = find(ctx, h.Live, named)
	}
	if err != nil || submission == nil {
		return "", err
	}
	template := &v1alpha1.TaskTemplate{}
	if err := h.Cache.Get(ctx, client.ObjectKey{Namespace: decision.Namespace, Name: submission.Spec.TemplateRef.Name}, template); err != nil {
		return "", client.IgnoreNotFound(err)
	}
	if compiled, _ := h.Plans.For(template); compiled != nil {
		return compiled.Digest, nil
	}
	return "", nil
}
