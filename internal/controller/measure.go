package controller

import (
	"context"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/telemetry"
)

// measured has the metrics say how long a call took that carries an effect out, and what it came to.
func (r *Submissions) measured(subject *subject, run call) call {
	template, kind := labelOf(subject), telemetry.EffectOf(subject.template.Spec)
	return func(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
		started := r.Clock.Now()
		outcome, err := run(ctx, attempt)
		came := outcome.Kind
		if err != nil {
			came = v1alpha1.OutcomeNotApplied // nothing was sent
		}
		telemetry.EffectTook(template, kind, came, r.Clock.Since(started), attempt.Traceparent)
		return outcome, err
	}
}

// readySince is since when the attempt could have begun that asks for a place now. One that nobody has looked at before
// was ready when it was created.
func (r *Submissions) readySince(subject *subject) time.Time {
	now := r.Clock.Now()
	since := now
	if subject.record.Object == nil && subject.submission.Status.ObservedGeneration < 0 {
		since = r.pace.created(subject.action, subject.submission)
	}
	return r.pace.readySince(subject.action, since, now)
}

// queued measures for how long an attempt waited that has begun now.
func (r *Submissions) queued(subject *subject, ready time.Time, action *v1alpha1.Action) {
	r.pace.begins(subject.action)
	telemetry.Queued(labelOf(subject), subject.flight.Started().Sub(ready), action.Traceparent)
}
