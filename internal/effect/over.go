package effect

import "time"

// Over reports whether a deadline has passed, by the monotonic clock or by the wall clock: the first stands still while
// a machine is suspended, the second can be set (hazard 5). A wrong "over" costs a retry; nothing was sent.
func Over(now, deadline time.Time) bool {
	return !now.Before(deadline) || !now.Round(0).Before(deadline.Round(0))
}
