package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Process is a program that was started beside this one: the manager, a receiver. On Linux it is killed when this
// process ends, however that happens.
type Process struct {
	// Name is for messages.
	Name string
	// Done is closed when the program has ended; Err may be read after that.
	Done chan struct{}
	// Err is how it ended, as of exec.Cmd.Wait.
	Err error

	cmd *exec.Cmd
}

// Launch starts a program, with its output appended to the file at logPath. It is not stopped by signals that a
// terminal sends to this process, so that its end can be awaited in order.
func Launch(name, logPath, program string, args ...string) (*Process, error) {
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = attributes()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the %s: %w", name, err)
	}
	p := &Process{Name: name, Done: make(chan struct{}), cmd: cmd}
	go func() {
		p.Err = cmd.Wait()
		close(p.Done)
	}()
	return p, nil
}

// Kill ends it as a crash does, and returns when it is gone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // an error means that it has ended
	<-p.Done
}

// Signal sends it a signal.
func (p *Process) Signal(signal os.Signal) error { return p.cmd.Process.Signal(signal) }

// Stop asks it to end and waits. What is still there after the patience is killed, which is an error.
func (p *Process) Stop(patience time.Duration) error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.Done:
		if p.Err != nil {
			return fmt.Errorf("the %s ended with: %w", p.Name, p.Err)
		}
		return nil
	case <-time.After(patience):
		p.Kill()
		return fmt.Errorf("the %s did not stop within %s and was killed", p.Name, patience)
	}
}

// Build compiles packages of this repository into its folder bin and returns that folder.
func Build(ctx context.Context, packages ...string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	bin := filepath.Join(root, "bin")
	if err := os.MkdirAll(bin, 0o750); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-o", bin + string(filepath.Separator)}, packages...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, os.Stderr, os.Stderr
	return bin, cmd.Run()
}
