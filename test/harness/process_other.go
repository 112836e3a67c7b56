//go:build !linux

package harness

import "syscall"

// Attributes are those of a server of the tests: no signal from a terminal ends it.
func Attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
