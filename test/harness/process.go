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
	// Log is the path of the file that its output goes to.
	Log string
	// Done is closed when the program has ended; Err may be read after that.
	Done chan struct{}
	// Err is how it ended, as of exec.Cmd.Wait.
	Err error

	cmd *exec.Cmd
}

// Launch starts a program, with its output appended to the file at log, and with what environment adds to this
// process's own. It is not stopped by signals that a terminal sends to this process, so that its end can be awaited in
// order.
func Launch(name, log string, environment []string, program string, args ...string) (*Process, error) {
	output, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer output.Close()
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), environment...)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = Attributes()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the %s: %w", name, err)
	}
	p := &Process{Name: name, Log: log, Done: make(chan struct{}), cmd: cmd}
	go func() {
		p.Err = cmd.Wait()
		close(p.Done)
	}()
	return p, nil
}

// Await returns nil when the program is ready. An error says that it ended before, that it took too long, or that ctx
// ended; then the program may still run.
func (p *Process) Await(ctx context.Context, ready func(context.Context) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("it was not ready within %s", startTimeout))
	defer cancel()
	for !ready(ctx) {
		select {
		case <-p.Done:
			return p.EndedByItself()
		case <-ctx.Done():
			return fmt.Errorf("starting the %s: %w\n%s", p.Name, context.Cause(ctx), p.LogTail())
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

// EndedByItself is the error of a program that is Done although nobody had asked it to end.
func (p *Process) EndedByItself() error {
	how := p.Err
	if how == nil {
		how = errors.New("exit status 0")
	}
	return fmt.Errorf("the %s ended by itself: %w\n%s", p.Name, how, p.LogTail())
}

// LogTail returns the last lines of its log, for a message.
func (p *Process) LogTail() string { return tail(p.Log) }

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
			return fmt.Errorf("the %s was asked to stop and ended with: %w", p.Name, p.Err)
		}
		return nil
	case <-time.After(patience):
		p.Kill()
		return fmt.Errorf("the %s did not stop within %s and was killed", p.Name, patience)
	}
}

// Build compiles packages of this repository, with build tags separated by commas, into a folder. Each program is named
// as its package's folder.
func Build(ctx context.Context, dir, tags string, packages ...string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-tags", tags, "-o", dir + string(filepath.Separator)}, packages...)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// PID is the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }
