package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// KillAPIServer ends kube-apiserver as a crash does: no watch is told. StartAPIServer starts it again.
func (c *ControlPlane) KillAPIServer() error {
	if err := c.signal("kube-apiserver", syscall.SIGKILL); err != nil {
		return err
	}
	return c.StopAPIServer() // returns at once when it has ended
}

// PauseEtcd stops etcd without ending it: what is asked of the API server hangs until ResumeEtcd.
func (c *ControlPlane) PauseEtcd() error { return c.signal("etcd", syscall.SIGSTOP) }

// ResumeEtcd lets a paused etcd go on.
func (c *ControlPlane) ResumeEtcd() error { return c.signal("etcd", syscall.SIGCONT) }

// signal sends a signal to a program, whose process id the guard has written.
func (c *ControlPlane) signal(program string, signal syscall.Signal) error {
	text, err := os.ReadFile(filepath.Join(c.Dir, "run", program+".pid"))
	if err != nil {
		return fmt.Errorf("%s was never started: %w", program, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return fmt.Errorf("the process id of %s: %w", program, err)
	}
	return os.NewSyscallError("kill", syscall.Kill(pid, signal))
}
