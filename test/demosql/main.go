// Command demosql plays, with the real operator, a real API server and a real PostgreSQL, what usually makes a change in
// a database happen twice or get lost, and judges what came of it from the rows alone.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	log.SetLogger(logr.Discard()) // controller-runtime wants to be told where to log
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	red, err := Run(ctx, os.Stdout)
	stop()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "demosql:", err)
		os.Exit(1)
	case red > 0:
		os.Exit(1)
	}
}

// errInterrupted is what a run ends with that somebody stopped.
var errInterrupted = errors.New("interrupted")
