// Package collector stands for an OpenTelemetry collector: it takes traces over OTLP/HTTP, as they are on the wire, and
// keeps them.
package collector

import (
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"

	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Span is one span as it was exported.
type Span struct {
	// Trace, ID and Parent are hexadecimal, as in a traceparent; Parent is empty for a root.
	Trace, ID, Parent string
	Name              string
	Kind              tracev1.Span_SpanKind
	// Wrong says that its status is an error.
	Wrong bool
	// Attributes are its own, Resource those of the process. Every value is a text.
	Attributes, Resource map[string]string
}

// Collector is a server on an address of this machine.
type Collector struct {
	// URL is what OTEL_EXPORTER_OTLP_ENDPOINT has to be.
	URL string

	server *http.Server
	mu     sync.Mutex
	known  map[string]bool // by ID: an exporter that was not answered in time sends its spans again
	spans  []Span
	raw    []byte
}

// Start returns a collector that listens.
func Start() (*Collector, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &Collector{URL: "http://" + listener.Addr().String(), known: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", c.take)
	c.server = &http.Server{Handler: mux} //nolint:gosec // its clients are tests
	go func() { _ = c.server.Serve(listener) }()
	return c, nil
}

// Close ends it.
func (c *Collector) Close() error { return c.server.Close() }

// Spans returns what has arrived and fits.
func (c *Collector) Spans(fits func(Span) bool) []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []Span
	for _, span := range c.spans {
		if fits(span) {
			found = append(found, span)
		}
	}
	return found
}

// Raw returns every byte that has arrived.
func (c *Collector) Raw() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]byte(nil), c.raw...)
}

func (c *Collector) take(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	export := &collectorv1.ExportTraceServiceRequest{}
	if err == nil {
		err = proto.Unmarshal(body, export)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw = append(c.raw, body...)
	for _, resource := range export.GetResourceSpans() {
		process := texts(resource.GetResource().GetAttributes())
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				c.keep(spanOf(span, process))
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf") // the answer is an empty message
}

// keep adds a span that is not known yet. The lock is held.
func (c *Collector) keep(span Span) {
	if !c.known[span.ID] {
		c.known[span.ID] = true
		c.spans = append(c.spans, span)
	}
}

func spanOf(span *tracev1.Span, process map[string]string) Span {
	return Span{
		Trace: hex.EncodeToString(span.GetTraceId()), ID: hex.EncodeToString(span.GetSpanId()), Parent: hex.EncodeToString(span.GetParentSpanId()),
		Name: span.GetName(), Kind: span.GetKind(), Wrong: span.GetStatus().GetCode() == tracev1.Status_STATUS_CODE_ERROR,
		Attributes: texts(span.GetAttributes()), Resource: process,
	}
}

func texts(attributes []*commonv1.KeyValue) map[string]string {
	all := map[string]string{}
	for _, attribute := range attributes {
		switch value := attribute.GetValue().GetValue().(type) {
		case *commonv1.AnyValue_StringValue:
			all[attribute.GetKey()] = value.StringValue
		case *commonv1.AnyValue_IntValue:
			all[attribute.GetKey()] = fmt.Sprint(value.IntValue)
		default:
			all[attribute.GetKey()] = attribute.GetValue().String()
		}
	}
	return all
}
