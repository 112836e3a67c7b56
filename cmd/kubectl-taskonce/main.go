// Command kubectl-taskonce is a kubectl plugin: with it on the PATH, "kubectl taskonce" submits actions, explains what
// became of them, and makes decisions.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"go.opentelemetry.io/otel/propagation"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/taskonce/taskonce/internal/cli"
)

// version is set when a release is built.
var version = "development"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second one ends it at once
	code := cli.Main(traced(ctx), os.Args[1:], genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}, version)
	stop()
	os.Exit(code)
}

// traced continues the trace of whoever started this process, which OpenTelemetry has in the variable TRACEPARENT.
func traced(ctx context.Context) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": os.Getenv("TRACEPARENT")})
}
