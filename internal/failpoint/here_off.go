//go:build !faults

package failpoint

// Here does nothing.
func Here(Name) {}
