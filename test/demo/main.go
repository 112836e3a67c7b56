package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	var options Options
	steps := flag.String("steps", "", "play these steps only, separated by commas")
	flag.StringVar(&options.Fault, "fault", "", "build the operator with one rule switched off: "+strings.Join(faults, ", "))
	flag.BoolVar(&options.Keep, "keep", false, "keep the folder with the logs, also when all is well")
	flag.Parse()
	if *steps != "" {
		for name := range strings.SplitSeq(*steps, ",") {
			options.Steps = append(options.Steps, strings.TrimSpace(name))
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	log.SetLogger(logr.Discard()) // controller-runtime wants to be told where to log
	verdict, err := Run(ctx, options, os.Stdout)
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	stop()
	os.Exit(exitCode(verdict, err))
}

// exitCode is 0 where everything was played and came out as said, and 1 otherwise.
func exitCode(verdict Verdict, err error) int {
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "demo:", err)
		return 1
	case len(verdict.Red()) > 0:
		return 1
	default:
		return 0
	}
}
