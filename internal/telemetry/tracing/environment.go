// Package tracing makes OpenTelemetry spans of what is done for an action. They continue the client's trace, whose
// context the submission carries, and nothing of an action depends on them.
package tracing

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

// FromEnvironment returns a Tracer of a service that exports as the standard OTEL_* variables say, or nil where they name no
// endpoint. Sampling is theirs, too: by default what the client sampled, and whatever has no client's trace.
func FromEnvironment(ctx context.Context, service, version string) (*Tracer, error) {
	if !wanted() {
		return nil, nil
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log().Error(err, "spans were not exported") }))
	exporter, err := exporter(ctx)
	if err != nil {
		return nil, fmt.Errorf("traces cannot be exported as the OTEL_EXPORTER_OTLP_ variables say: %w", err)
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", service), attribute.String("service.version", version)),
		resource.WithFromEnv()) // the last one wins
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	return &Tracer{tracer: provider.Tracer("github.com/taskonce/taskonce"), shutdown: provider.Shutdown}, nil
}

// Shutdown exports what has ended and was not exported yet.
func (t *Tracer) Shutdown(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.shutdown(ctx)
}

// Flush exports the last spans. It does not keep a process that ends: the collector may be gone.
func (t *Tracer) Flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := t.Shutdown(ctx); err != nil {
		log().Error(err, "the last spans were not exported")
	}
}

func log() logr.Logger { return logf.Log.WithName("tracing") }

// wanted reports whether somebody has said where traces go, and nobody that there should be none.
func wanted() bool {
	off, _ := strconv.ParseBool(os.Getenv("OTEL_SDK_DISABLED"))
	return !off && os.Getenv("OTEL_TRACES_EXPORTER") != "none" && either("ENDPOINT") != ""
}

func exporter(ctx context.Context) (*otlptrace.Exporter, error) {
	switch protocol := either("PROTOCOL"); protocol {
	case "grpc":
		return otlptracegrpc.New(ctx)
	case "", "http/protobuf":
		return otlptracehttp.New(ctx)
	default:
		return nil, fmt.Errorf("the protocol must be grpc or http/protobuf, and is %q", protocol)
	}
}

// either returns an OTLP variable: the one for traces before the one for all signals.
func either(name string) string {
	return cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_"+name), os.Getenv("OTEL_EXPORTER_OTLP_"+name))
}
