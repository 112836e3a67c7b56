package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// KillAPIServer ends kube-apiserver as a crash does: no watch is told. StartAPIServer starts it again.
func (c *ControlPlane) KillAPIServer(ctx context.Context) error {
	if err := c.signal(ctx, "kube-apiserver", syscall.SIGKILL); err != nil {
		return err
	}
	return c.StopAPIServer() // returns at once when it has ended
}

// PauseEtcd stops etcd without ending it: what is asked of the API server hangs until ResumeEtcd.
func (c *ControlPlane) PauseEtcd(ctx context.Context) error {
	return c.signal(ctx, "etcd", syscall.SIGSTOP)
}

// ResumeEtcd lets a paused etcd go on.
func (c *ControlPlane) ResumeEtcd(ctx context.Context) error {
	return c.signal(ctx, "etcd", syscall.SIGCONT)
}

func (c *ControlPlane) signal(ctx context.Context, program string, signal os.Signal) error {
	path := filepath.Join(c.Dir, "run", program) + ".program"
	listed, err := exec.CommandContext(ctx, "ps", "-ww", "-eo", "pid=,args=").Output()
	if err != nil {
		return fmt.Errorf("ps: %w", err)
	}
	for line := range strings.Lines(string(listed)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[1] != path {
			continue
		}
		pid, err := strconv.Atoi(fields[0])
		if err != nil {
			return err
		}
		process, err := os.FindProcess(pid)
		if err != nil {
			return err
		}
		return process.Signal(signal)
	}
	return fmt.Errorf("%s does not run", program)
}
