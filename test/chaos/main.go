package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	options := Options{}
	flag.Uint64Var(&options.Seed, "seed", 0, "of everything that is drawn; 0: the present time")
	flag.DurationVar(&options.Duration, "duration", time.Minute, "how long faults come; longer where a kind of fault has not happened yet")
	flag.IntVar(&options.Clients, "clients", 8, "how many clients there are at once")
	flag.BoolVar(&options.Keep, "keep", false, "keep the folder with the logs, also when all is well")
	flag.StringVar(&options.Weakness, "weakness", "", "a rule of the operator to switch off instead of bringing faults (reuse-connections, ignore-settle, no-orphan-wait)")
	flag.Parse()
	if options.Seed == 0 {
		options.Seed = uint64(time.Now().UnixNano())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	log.SetLogger(logr.Discard()) // controller-runtime wants to be told where to log
	summary, err := Run(ctx, options, os.Stdout)
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "chaos: seed %d: %v\n", options.Seed, err)
	}
	if err != nil || len(summary.Violations) > 0 {
		os.Exit(1)
	}
}
