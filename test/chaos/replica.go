package main

import (
	"context"
	"errors"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/taskonce/taskonce/internal/failpoint"
	"github.com/taskonce/taskonce/test/harness"
)

// mode says how the replicas share the work.
type mode string

const (
	// elected: they elect a leader, and the other one waits.
	elected mode = "one leads"
	// active: both work, and know nothing of each other.
	active mode = "both active"
)

// replica is one of the operator's, kept running as a kubelet would: whenever it ends, it is started again.
type replica struct {
	manager harness.Manager // without what changes from start to start
	census  string          // the address at which it says what it holds
	wire    *wire
	tally   *tally

	mu        sync.Mutex
	mode      mode
	process   *harness.Process
	failpoint failpoint.Name // armed in the process that runs, or in the next
	fired     chan struct{}  // closed when the failpoint has killed the process
	killed    bool           // by us
	held      chan struct{}  // while it is open nothing is started
	closed    bool
	broken    error
	done      chan struct{}
}

// restartAfter is how long a replica stays down.
const restartAfter = 200 * time.Millisecond

// run starts the process whenever there is none, until the replica is closed.
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
	m := r.manager
	m.Environment = append([]string{"TASKONCE_FAILPOINT=" + string(r.failpoint), "TASKONCE_CENSUS=" + r.census}, m.Environment...)
	m.Flags = []string{"--sweep-interval=1s", "--grace-period=1s"}
	if r.mode == elected {
		m.Flags = append(m.Flags, "--leader-elect", "--leader-election-namespace="+harness.ManagerNamespace,
			"--leader-election-lease-duration="+lease.String(),
			"--leader-election-renew-deadline=1500ms", "--leader-election-retry-period=300ms")
	}
	process, err := m.Launch()
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
func (r *replica) arm(name failpoint.Name) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failpoint, r.fired = name, make(chan struct{})
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

// is has the replica work in a mode.
func (r *replica) is(m mode) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mode != m {
		r.mode = m
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

// stop stops the process for a while without ending it, and lets it go on.
func (r *replica) stop(ctx context.Context, d time.Duration) error {
	r.mu.Lock()
	process := r.process
	r.mu.Unlock()
	if process.Signal(syscall.SIGSTOP) != nil {
		return errNotFired // it is being started again
	}
	pass(ctx, d)
	_ = process.Signal(syscall.SIGCONT) // an error means that it was killed meanwhile
	return nil
}

// close ends the replica for good. An error says that it could not be started again.
func (r *replica) close() error {
	r.up()
	r.mu.Lock()
	r.closed = true
	r.end()
	r.mu.Unlock()
	<-r.done
	return errors.Join(r.broken, r.wire.close())
}
