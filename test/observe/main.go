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
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	picture := flag.String("picture", "", "draw the dashboard into this file, as SVG")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	log.SetLogger(logr.Discard()) // controller-runtime wants to be told where to log
	report, err := Run(ctx)
	if err == nil {
		report.Print(os.Stdout)
		err = report.save(*picture)
	}
	if err == nil && len(report.Faults) > 0 {
		err = errors.New("what is seen is not what happened")
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "observe:", err)
		os.Exit(1)
	}
}
