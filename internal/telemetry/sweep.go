package telemetry

import (
	"time"
)

var (
	sweepCompleted = gauge("taskonce_sweep_last_completed_timestamp_seconds",
		"When the last sweep was complete, which looks at all that is due: outcomes to be cleared up without a submission, and what is to be removed; or when this replica began to lead. "+
			"0 on replicas that do not lead. If it falls behind, see taskonce_sweep_due_objects and taskonce_sweep_failures_total: nothing is lost, but recovery and removal wait.")

	sweepDue = gauge("taskonce_sweep_due_objects",
		"How many objects that were due the last complete sweep met. If it does not fall, more becomes due than is looked at: raise --sweep-rate.")

	sweepFailures = total("taskonce_sweep_failures_total",
		"Looks of sweeps that failed. The next sweep looks again; the log says why.")
)

// SweepsFrom says that this replica sweeps from now on.
func SweepsFrom(now time.Time) {
	sweepCompleted.Set(seconds(now))
}

// Swept says that a sweep was complete, and what it met.
func Swept(now time.Time, due int) {
	sweepCompleted.Set(seconds(now))
	sweepDue.Set(float64(due))
}

// SweepFailed counts looks that failed.
func SweepFailed(looks int) { sweepFailures.Add(float64(looks)) }

func seconds(at time.Time) float64 { return float64(at.UnixMilli()) / 1000 }
