package cli

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// made is what came of one decision.
type made struct {
	decision *v1alpha1.TaskDecision // nil: it was not made
	existed  bool                   // somebody had made it before
	err      error
}

// one makes one decision, and waits until it is judged.
func (o *decide) one(ctx context.Context, subject *subject) made {
	if decision := o.already(ctx, subject); decision != nil {
		return made{decision: decision, existed: true}
	}
	decision, err := o.decision(subject)
	if err != nil {
		return made{err: err}
	}
	if o.dryRun == "client" {
		decision.Name = decisionName(subject, decision, 1)
		return made{decision: decision}
	}
	result := o.create(ctx, subject, decision)
	if result.err != nil || o.dryRun == "server" || !o.wait {
		return result
	}
	judged, err := o.cluster.judged(ctx, result.decision)
	if judged != nil {
		result.decision = judged
	}
	if err != nil && ctx.Err() == nil {
		return made{err: err}
	}
	return result
}

// decision returns it without a name. What it names is what was read.
func (o *decide) decision(subject *subject) (*v1alpha1.TaskDecision, error) {
	decision := &v1alpha1.TaskDecision{
		ObjectMeta: metav1.ObjectMeta{Namespace: subject.Name.Namespace},
		Spec: v1alpha1.TaskDecisionSpec{
			Submission: subject.Name.Name, UID: subject.uid(), Attempt: subject.attempt(), Action: o.kind.action, Reason: o.reason,
		},
	}
	if o.kind.action == v1alpha1.DecisionApprove {
		digest, err := o.pinned(subject)
		if err != nil {
			return nil, err
		}
		decision.Spec.TemplateDigest = digest
	}
	if o.result != "" {
		canonical, err := v1alpha1.CanonicalJSON([]byte(o.result))
		if err != nil {
			return nil, fmt.Errorf("--result: %w", err)
		}
		decision.Spec.Result = &apiextensionsv1.JSON{Raw: canonical}
	}
	return decision, nil
}

// pinned returns the digest that an approval names.
func (o *decide) pinned(subject *subject) (string, error) {
	digest := subject.EffectDigest()
	if digest == "" {
		return "", fmt.Errorf("%s: what it would approve is not known: the template %q is missing, or the operator has not looked at its latest edit yet; see: kubectl get tasktemplate %s -n %s -o wide",
			titled(subject.Name.Name), subject.TemplateName(), subject.TemplateName(), subject.Name.Namespace)
	}
	const prefix = "sha256:"
	if wanted := strings.TrimPrefix(o.digest, prefix); !strings.HasPrefix(strings.TrimPrefix(digest, prefix), wanted) {
		return "", failed(exitRefused, "%s not approved: the effect of the template %q is another one now, with the digest %s: look at it again", titled(subject.Name.Name), subject.TemplateName(), digest)
	}
	return digest, nil
}

// create stores the decision. Its name follows from what it decides, so that the same decision is made once; one that
// came to nothing does not stand in the way of another.
func (o *decide) create(ctx context.Context, subject *subject, decision *v1alpha1.TaskDecision) made {
	for try := 1; ; try++ {
		decision.Name = decisionName(subject, decision, try)
		attempt := decision.DeepCopy()
		err := o.cluster.api.Create(ctx, attempt, o.dryRun.options()...)
		if err == nil {
			return made{decision: attempt}
		}
		if !apierrors.IsAlreadyExists(err) {
			return made{err: err}
		}
		existing := &v1alpha1.TaskDecision{}
		if err := o.cluster.api.Get(ctx, client.ObjectKeyFromObject(decision), existing); err != nil {
			return made{err: err}
		}
		switch existing.Status.State {
		case v1alpha1.DecisionRefused, v1alpha1.DecisionSuperseded:
		default:
			return made{decision: existing, existed: true}
		}
	}
}

// decisionName is the same for the same decision about the same attempt.
func decisionName(subject *subject, decision *v1alpha1.TaskDecision, try int) string {
	var retries int32
	if action := subject.Action(); action != nil {
		retries = action.Retries
	}
	spec := &decision.Spec
	sum := sha256.Sum256([]byte(v1alpha1.Key(string(spec.UID), strconv.Itoa(int(spec.Attempt)), string(spec.Action), strconv.Itoa(int(retries)), spec.TemplateDigest, strconv.Itoa(try))))
	hash := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]))[:12]
	return fmt.Sprintf("%.52s-%s-%s", spec.Submission, decisionCalled(spec.Action).verb, hash)
}

// judged waits until the operator has said what came of a decision. It returns the decision as it was last seen.
func (c *cluster) judged(ctx context.Context, decision *v1alpha1.TaskDecision) (*v1alpha1.TaskDecision, error) {
	for {
		last := &v1alpha1.TaskDecision{}
		if err := c.api.Get(ctx, client.ObjectKeyFromObject(decision), last); err != nil {
			return decision, err
		}
		if decision = last; isJudged(last) {
			return last, nil
		}
		changes, err := c.api.Watch(ctx, &v1alpha1.TaskDecisionList{}, &client.ListOptions{
			Namespace: last.Namespace, FieldSelector: fields.OneTermEqualSelector("metadata.name", last.Name),
			Raw: &metav1.ListOptions{ResourceVersion: last.ResourceVersion},
		})
		if err != nil {
			return last, err
		}
		for event := range changes.ResultChan() {
			if seen, ok := event.Object.(*v1alpha1.TaskDecision); ok {
				if decision = seen; isJudged(seen) {
					break
				}
			}
		}
		changes.Stop()
		if isJudged(decision) {
			return decision, nil
		}
		if ctx.Err() != nil {
			return decision, errors.New("not judged in time")
		}
	}
}

func isJudged(decision *v1alpha1.TaskDecision) bool {
	return decision.Status.State != "" && decision.Status.State != v1alpha1.DecisionPending
}
