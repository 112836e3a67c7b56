package cli

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// answerWithin is how long one request may take before its answer is taken as lost.
const answerWithin = 10 * time.Second

// patience is the pauses between requests while the API server cannot be asked.
var patience = wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 1 << 10, Cap: 5 * time.Second}

// create stores the decision. Its name follows from what it decides, so that the same decision is made once: a create whose
// answer is lost is sent again.
func (o *decide) create(ctx context.Context, subject *subject, decision *v1alpha1.TaskDecision) made {
	ctx, cancel := limited(ctx, o.timeout)
	defer cancel()
	var result made
	lost := false
	_ = patience.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) { // its error is that ctx ended
		result = o.store(ctx, subject, decision)
		lost = lost || o.dryRun == "none" && mayHaveLanded(result.err)
		return !passing(result.err), nil
	})
	result.subject = subject
	switch {
	case result.decision != nil:
	case lost:
		result.err = failed(exitUnknown, "%s: whether the decision %s was made is unknown: give the same command again to find out: %w", titled(subject.Name.Name), decision.Name, result.err)
	case refused(result.err):
		result.err = &coded{exitRefused, result.err}
	}
	return result
}

// store creates a decision, or returns the same one that was made before. One that came to nothing does not stand in the way
// of another.
func (o *decide) store(ctx context.Context, subject *subject, decision *v1alpha1.TaskDecision) made {
	for try := 1; ; try++ {
		decision.Name = decisionName(subject, decision, try)
		if m := o.storeNamed(ctx, decision.DeepCopy()); m.err != nil || !m.existed || !futile(m.decision) {
			return m
		}
	}
}

func (o *decide) storeNamed(ctx context.Context, decision *v1alpha1.TaskDecision) made {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	err := o.cluster.api.Create(ctx, decision, o.dryRun.options()...)
	existed := apierrors.IsAlreadyExists(err)
	if existed {
		err = o.cluster.api.Get(ctx, client.ObjectKeyFromObject(decision), decision)
	}
	if err != nil {
		return made{err: err}
	}
	return made{decision: decision, existed: existed}
}

// futile reports whether a decision came to nothing.
func futile(decision *v1alpha1.TaskDecision) bool {
	return decision.Status.State == v1alpha1.DecisionRefused || decision.Status.State == v1alpha1.DecisionSuperseded
}

// passing reports whether what went wrong may be over when the same is asked again.
func passing(err error) bool {
	code := statusOf(err)
	switch {
	case err == nil:
		return false
	case code == 0:
		return true
	default:
		return code == http.StatusRequestTimeout || code == http.StatusTooManyRequests || code == http.StatusGone || code >= http.StatusInternalServerError
	}
}

// mayHaveLanded reports whether a create may have been carried out although its answer is an error, or none.
func mayHaveLanded(err error) bool {
	var dial *net.OpError
	connected := !errors.As(err, &dial) || dial.Op != "dial"
	return passing(err) && connected && statusOf(err) != http.StatusTooManyRequests
}

// statusOf is the HTTP status of an answer; 0: there was none.
func statusOf(err error) int32 {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status().Code
	}
	return 0
}
