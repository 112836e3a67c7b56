// Command dev runs a control plane, the operator and a receiver until it is interrupted, for trying things out. What
// is in the control plane, and the receiver's ledger, are kept in tmp/dev between runs.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	corev1 "k8s.io/api/core/v1"

	"github.com/taskonce/taskonce/test/harness"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second interrupt ends this process at once, and with it everything that it started.
	context.AfterFunc(ctx, stop)
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "dev:", err)
		os.Exit(1)
	}
}

// run returns nil, after everything has been stopped, when ctx ends.
func run(ctx context.Context) (err error) {
	root, err := harness.Root()
	if err != nil {
		return err
	}
	say("Building the manager, the kubectl plugin and the receiver.")
	bin := filepath.Join(root, "bin")
	if err := harness.Build(ctx, bin, "", "./cmd/manager", "./cmd/kubectl-taskonce", "./test/receiver"); err != nil {
		return unlessInterrupted(ctx, err)
	}

	say("Starting etcd, kube-apiserver and the Job controller.")
	c, err := harness.Start(harness.Options{
		Dir: filepath.Join(root, "tmp", "dev"), CRDs: true, Controllers: []string{"job-controller", "garbage-collector-controller"},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()

	if err := c.PlayPods(ctx, "", played, func(err error) { fmt.Fprintln(os.Stderr, "dev: playing pods:", err) }); err != nil {
		return unlessInterrupted(ctx, err)
	}

	say("Starting the receiver and the manager.")
	w := &world{c: c, bin: bin}
	defer func() {
		say("\nStopping. What is under way gets the time to end.")
		err = errors.Join(err, w.processes.Stop(stopPatience))
	}()
	if err := w.start(ctx); err != nil {
		return unlessInterrupted(ctx, err)
	}
	welcome(root, c)
	return w.processes.Wait(ctx)
}

// played is how a container ends that is not run.
func played(context.Context, *corev1.Pod) harness.Exit {
	return harness.Exit{Message: `{"played": true}`}
}

// unlessInterrupted drops an error that only says that the start was broken off.
func unlessInterrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // whoever interrupted it knows
	}
	return err
}

func welcome(root string, c *harness.ControlPlane) {
	ledger, err := filepath.Rel(root, ledgerPath(c))
	if err != nil {
		ledger = ledgerPath(c)
	}
	fmt.Printf("\nReady. In another terminal, in this folder:\n\n  export KUBECONFIG=%s\n", c.Kubeconfig)
	fmt.Printf("  export PATH=\"$PATH:%s\"   # where the kubectl plugin is\n", filepath.Join(root, "bin"))
	if _, err := exec.LookPath("kubectl"); err != nil {
		fmt.Printf("  export PATH=\"$PATH:%s\"   # where kubectl is\n", c.Programs)
	}
	fmt.Printf(`
  kubectl apply -f config/samples/submission-award-points.yaml   # as often as you like
  kubectl get tasksubmissions
  kubectl taskonce inbox          # what waits for a person
  cat %s   # what the receiver was asked, and did

The templates of config/samples are there, and the other submissions in it do more. No container runs: those of Jobs are
played, and end well. Logs are in %s.
Ctrl-C stops everything; what is in it is there again the next time.
`, ledger, filepath.Dir(ledger))
}

func say(text string) { fmt.Println(text) }
