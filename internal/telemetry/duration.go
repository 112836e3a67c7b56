package telemetry

import (
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

var (
	// shortly are the bounds of what takes milliseconds to minutes, lastly those of what may wait for a person.
	shortly = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
	lastly  = append(append([]float64{}, shortly...), 900, 3600, 4*3600, 24*3600, 7*24*3600)

	submissionDuration = histogram("taskonce_submission_duration_seconds",
		"From the creation of a submission until its status said Success or Failed, replays left out. To the second where it was created before this process began to watch. "+
			"If it grows, look at taskonce_queue_duration_seconds (too little room), at taskonce_effect_duration_seconds (a slow receiver), and at what waits: taskonce_submissions.",
		lastly, labelTemplate, "phase")

	effectDuration = histogram("taskonce_effect_duration_seconds",
		"How long the effect of an attempt took, from its launch until it came to an outcome: Applied, NotApplied, InProgress or Unknown. "+
			"It is the receiver's time: where it comes near the template's timeout, attempts end as Unknown.",
		shortly, labelTemplate, "effect", "outcome")

	queueDuration = histogram("taskonce_queue_duration_seconds",
		"From the moment when an attempt could begin until it had a place and began. "+
			"If it grows, the template's limits or --max-in-flight are used up (taskonce_attempts_in_flight), or --workers is too low (workqueue_depth).",
		shortly, labelTemplate)
)

// EffectTook takes in how long an effect took.
func EffectTook(template, effect string, outcome v1alpha1.Outcome, took time.Duration, traceparent string) {
	observe(effectDuration.WithLabelValues(template, effect, string(outcome)), took, traceparent)
}

// Queued takes in how long an attempt waited that could have begun.
func Queued(template string, waited time.Duration, traceparent string) {
	observe(queueDuration.WithLabelValues(template), waited, traceparent)
}
