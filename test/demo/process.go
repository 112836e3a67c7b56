package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// process is a program that runs beside the demo.
type process struct {
	name string
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error         // how it ended; to be read after done
}

// launch starts a program whose output is appended to a file.
func launch(name, logPath string, environment []string, path string, arguments ...string) (*process, error) {
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(path, arguments...)
	cmd.Env = append(os.Environ(), environment...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the %s: %w", name, err)
	}
	p := &process{name: name, cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// kill ends the process as a crash does: it gets no chance to do anything more.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // an error means that it has ended
	<-p.done
}

// stop asks the process to end, waits for it, and returns an error where it did not end well.
func (p *process) stop(patience time.Duration) error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.done:
		if p.err != nil {
			return fmt.Errorf("the %s was asked to stop and ended with: %w", p.name, p.err)
		}
		return nil
	case <-time.After(patience):
		p.kill()
		return fmt.Errorf("the %s did not stop within %s and was killed", p.name, patience)
	}
}

// ended reports whether the process is gone, and how.
func (p *process) ended() error {
	select {
	case <-p.done:
		return fmt.Errorf("the %s ended by itself: %w", p.name, orEnd(p.err))
	default:
		return nil
	}
}

// orEnd gives an end without an error one.
func orEnd(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

// build compiles a program of this module.
func build(ctx context.Context, root, output, pkg string, tags ...string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", strings.Join(tags, ","), "-o", output, pkg)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
	}
	return nil
}
