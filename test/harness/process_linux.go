package harness

import "syscall"

// Attributes are those of a server of the tests: it ends with this process, however that happens, and not by a signal
// from a terminal.
func Attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
