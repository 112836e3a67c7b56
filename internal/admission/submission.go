// Package admission says at the door what can be known there. Nothing depends on it: the reconciler checks the same
// things again, so a submission that came in while the webhooks were down ends with the same verdict.
package admission

import (
	"context"
	"encoding/json"

	"golang.org/x/sync/singleflight"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
	"github.com/taskonce/taskonce/internal/plan"
	"github.com/taskonce/taskonce/internal/record"
	"github.com/taskonce/taskonce/internal/telemetry/tracing"
)

// Plans compiles templates, once for each generation.
type Plans interface {
	For(template *v1alpha1.TaskTemplate) (*plan.Plan, field.ErrorList)
}

// Submissions answers creates and updates of submissions. It is one mutating webhook that validates as well, so that a
// create costs one call. What is let through has cost one live read at most; before a refusal is said that the cache
// alone would justify, the API server is asked, too.
type Submissions struct {
	// Cache holds templates, and the submissions that have not finished.
	Cache client.Reader
	// Live reads past the cache.
	Live    client.Reader
	Records *record.Store
	Plans   Plans
	// Tracer makes spans; nil: none.
	Tracer *tracing.Tracer
	Clock  clock.PassiveClock
	// Recent is what NewRecent returns.
	Recent *cache.LRUExpireCache
	asking singleflight.Group // by question
}

// Handle answers one request.
func (h *Submissions) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation == admissionv1.Update {
		var old, updated metav1.PartialObjectMetadata
		if !decodedBoth(request, &old, &updated) {
			return admission.Allowed("")
		}
		return admission.Patched("", keepPerson(&old, &updated, v1alpha1.AnnotationSubmittedBy)...)
	}
	submission := &v1alpha1.TaskSubmission{}
	if err := json.Unmarshal(request.Object.Raw, submission); err != nil {
		return admission.Allowed("") // the kind's schema refuses it, and says where
	}
	submission.Namespace = request.Namespace
	patches := namePerson(submission, v1alpha1.AnnotationSubmittedBy, request.UserInfo.Username)
	patches = append(patches, giveName(submission)...)
	span, patch := h.trace(submission)
	patches = append(patches, patch...)
	problem, warning, err := h.judge(ctx, submission, request.DryRun != nil && *request.DryRun)
	if err != nil {
		logf.FromContext(ctx).Error(err, "a create was let through unjudged; the reconciler judges it")
	}
	span.End(outcomeOf(problem), err != nil)
	if problem != nil {
		return refuseInput(submission, problem)
	}
	response := admission.Patched("", patches...)
	if warning != "" {
		response.Warnings = []string{warning}
	}
	return response
}

// judge returns what is wrong with a create, or what its author should know of it. What is known of the key comes
// before the template: an action that has begun is not judged by a template that was edited since.
func (h *Submissions) judge(ctx context.Context, submission *v1alpha1.TaskSubmission, dryRun bool) (problem *lifecycle.Problem, warning string, err error) {
	input := plan.InputOf(submission)
	if _, problem := input.Check(nil); problem != nil {
		return problem, "", nil
	}
	known, err := h.earlier(ctx, submission, input)
	if err != nil {
		return nil, "", err
	}
	if known == nil {
		return h.askTemplate(ctx, submission, input)
	}
	if !dryRun {
		h.count(ctx, submission.Namespace, known)
	}
	problem, warning = known.answer(h.Clock.Now())
	return problem, warning, nil
}
