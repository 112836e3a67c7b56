// Command demoweb runs the example of examples/homework, with a control plane, the operator, two gateways and a receiver,
// until it is interrupted. Nothing of it is kept.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/taskonce/taskonce/test/web/school"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8088", "Where the pages are served.")
	flag.Parse()
	ctrl.SetLogger(logr.Discard()) // envtest's own words are of no use here
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second interrupt ends this process at once, and with it everything that it started.
	context.AfterFunc(ctx, stop)
	if err := run(ctx, *listen); err != nil {
		fmt.Fprintln(os.Stderr, "demoweb:", err)
		os.Exit(1)
	}
}

// run returns nil, after everything has been stopped, when ctx ends.
func run(ctx context.Context, listen string) (err error) {
	s, err := school.Open(ctx, school.Options{Listen: listen, Say: func(text string) { fmt.Println(text) }})
	defer func() {
		if ctx.Err() != nil {
			fmt.Println("\nStopping.")
		}
		err = errors.Join(err, s.Close())
	}()
	switch {
	case ctx.Err() != nil:
		return nil // whoever interrupted it knows
	case err != nil:
		return err
	}
	page, err := s.OpenPage(ctx, school.Namespace)
	if err != nil {
		return err
	}
	fmt.Printf(`
Ready:

  %s            a student, a teacher and a parent, and the ledger
  %s/student    the student's page by itself; /teacher and /parent too
  %s            what waits for a person, what is in process, what finished

The gateways are %s and %s. Logs are in %s.
Ctrl-C stops everything.
`, s.URL, s.URL, page, s.Gateways[0], s.Gateways[1], s.Plane.Dir)
	return s.Processes.Wait(ctx)
}
