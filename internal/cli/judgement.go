package cli

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// made is what came of one decision.
type made struct {
	subject  *subject
	decision *v1alpha1.TaskDecision // nil: it was not made, or nobody knows
	existed  bool                   // somebody had made it before
	err      error                  // why it was not made, or why nobody tells what came of it
}

// make makes one decision.
func (o *decide) make(ctx context.Context, subject *subject) made {
	if ctx.Err() != nil {
		return made{subject: subject, err: fmt.Errorf("%s not %s: %w", titled(subject.Name.Name), o.kind.done, context.Cause(ctx))}
	}
	if decision := o.already(ctx, subject); decision != nil {
		return made{subject: subject, decision: decision, existed: true}
	}
	decision, err := o.decision(subject)
	if err != nil {
		return made{subject: subject, err: err}
	}
	if o.dryRun == "client" {
		decision.Name = decisionName(subject, decision, 1)
		return made{subject: subject, decision: decision}
	}
	return o.create(ctx, subject, decision)
}

// settle waits until what was made is judged.
func (o *decide) settle(ctx context.Context, m made) made {
	if m.decision != nil && !isJudged(m.decision) && o.dryRun == "none" && o.wait {
		m.decision, m.err = o.cluster.judged(ctx, m.decision)
	}
	return m
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
