package effecttest

import (
	"time"
	"unsafe"
)

// ShiftWall moves the wall clock of a reading by whole seconds and leaves the monotonic one, as setting the clock or
// suspending a machine does. Package time has no way to say that: the seconds of the wall clock stand above the 30
// bits of its nanoseconds.
func ShiftWall(reading time.Time, by time.Duration) time.Time {
	wall := (*uint64)(unsafe.Pointer(&reading))
	*wall += uint64(int64(by/time.Second) << 30)
	return reading
}
