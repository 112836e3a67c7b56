package lifecycle

import (
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// backoff returns the wait after the n-th try without success (n from 1): initial, doubled each time, at most
// longest, with up to a quarter taken off by jitter; but never less than floor, which is a receiver's Retry-After.
func backoff(n int32, initial, longest, floor time.Duration, jitter float64) time.Duration {
	wait := initial
	for i := int32(1); i < n && wait < longest; i++ {
		wait *= 2
	}
	wait = min(wait, longest)
	wait -= time.Duration(float64(wait) * jitter / 4)
	return max(wait, floor)
}

// maxBackoff is a number of tries after which the back-off is at its longest.
const maxBackoff = 64

func retryDelay(o *Observation, n int32, floor time.Duration) time.Duration {
	initial, longest := time.Second, 5*time.Minute
	if spec := o.Template.Spec; spec != nil {
		initial, longest = spec.Retry.InitialDelay.Duration, spec.Retry.MaxDelay.Duration
	}
	return backoff(n, initial, longest, floor, o.Jitter)
}

func maxAttempts(o *Observation) int32 {
	if o.Template.Spec != nil {
		return o.Template.Spec.Retry.MaxAttempts
	}
	return 5
}

func recovery(o *Observation) v1alpha1.Recovery {
	if o.Template.Spec != nil {
		return o.Template.Spec.Recovery
	}
	return v1alpha1.Recovery{}
}
