package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/taskonce/taskonce/test/harness"
)

// replica is one of the operator's, kept running as a kubelet would: whenever it ends, it is started again.
type replica struct {
	program, kubeconfig, log string
	tally                    *tally

	mu        sync.Mutex
	process   *harness.Process
	failpoint string        // armed in the process that runs, or in the next
	fired     chan struct{} // closed when the failpoint has killed the process
	killed    bool          // by us
	held      chan struct{} // while it is open nothing is started
	closed    bool
	broken    error
	done      chan struct{}
}

// restartAfter is how long a replica stays down.
const restartAfter = 200 * time.Millisecond

func supervise(program, kubeconfig, log string, tally *tally) *replica {
	r := &replica{program: program, kubeconfig: kubeconfig, log: log, tally: tally, done: make(chan struct{})}
	go r.run()
	return r
}

func (r *replica) run() {
	defer close(r.done)
	for {
		process, err := r.start()
		if process == nil {
			r.broken = err
			return
		}
		<-process.Done
		r.ended(process.Err)
		pass(context.Background(), restartAfter)
		r.mu.Lock()
		held := r.held
		r.mu.Unlock()
		if held != nil {
			<-held
		}
	}
}

// start starts the process, unless the replica is closed.
func (r *replica) start() (*harness.Process, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, nil
	}
	process, err := harness.Launch("manager", r.log, []string{"TASKONCE_FAILPOINT=" + r.failpoint}, r.program,
		"--kubeconfig="+r.kubeconfig,
		"--leader-elect", "--leader-election-namespace="+harness.ManagerNamespace,
		"--leader-election-lease-duration="+lease.String(),
		"--leader-election-renew-deadline=1500ms", "--leader-election-retry-period=300ms",
		"--metrics-bind-address=0", "--health-probe-bind-address=0",
		"--allow-loopback-receivers", "--sweep-interval=1s", "--grace-period=1s",
	)
	r.process, r.killed = process, false
	r.tally.add("operator starts", 1)
	return process, err
}

// ended tells a failpoint that fired from an end that had another cause.
func (r *replica) ended(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var exit *exec.ExitError
	switch {
	case r.killed || r.closed:
	case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled() && r.failpoint != "":
		r.failpoint = ""
		close(r.fired)
	default:
		r.tally.add("operator ended by itself", 1) // it lost its lease, or had no API server
	}
}

// arm has the next process die at a failpoint, and ends the present one. What it returns is closed when that happened.
func (r *replica) arm(failpoint string) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failpoint, r.fired = failpoint, make(chan struct{})
	r.end()
	return r.fired
}

// disarm has the next process live.
func (r *replica) disarm() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failpoint != "" {
		r.failpoint = ""
		r.end()
	}
}

// kill ends the process as a crash does.
func (r *replica) kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end()
}

// end kills the process. The lock is held.
func (r *replica) end() {
	if r.process != nil {
		r.killed = true
		_ = r.process.Signal(syscall.SIGKILL) // an error means that it has ended
	}
}

// down ends the process as a crash does, and keeps it down until up.
func (r *replica) down() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = make(chan struct{})
	r.end()
}

// up lets the replica be started again.
func (r *replica) up() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held != nil {
		close(r.held)
		r.held = nil
	}
}

// signal sends a signal that does not end it.
func (r *replica) signal(signal syscall.Signal) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.process.Signal(signal); err != nil {
		return fmt.Errorf("the operator: %w", err)
	}
	return nil
}

// close ends the replica for good.
func (r *replica) close() {
	r.up()
	r.mu.Lock()
	r.closed = true
	r.end()
	r.mu.Unlock()
	<-r.done
}
