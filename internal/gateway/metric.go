package gateway

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Metric describes one metric of the gateway's own; docs/metrics.md is made from them.
type Metric struct {
	Name, Type, Help string
	Labels           []string
}

var (
	aboutRequests = Metric{
		Name: "taskonce_gateway_request_duration_seconds", Type: "histogram", Labels: []string{"route", "code", "replayed"},
		Help: "How long requests took, those included that waited for an outcome: by method and path, by status, and by whether the outcome was there before.",
	}
	aboutStreams = Metric{
		Name: "taskonce_gateway_streams", Type: "gauge",
		Help: "How many connections for events are open.",
	}

	requests = promauto.With(metrics.Registry).NewHistogramVec(prometheus.HistogramOpts{
		Name: aboutRequests.Name, Help: aboutRequests.Help, Buckets: []float64{.01, .05, .1, .5, 1, 2, 5, 10, 30, 60},
	}, aboutRequests.Labels)
	streams = promauto.With(metrics.Registry).NewGauge(prometheus.GaugeOpts{Name: aboutStreams.Name, Help: aboutStreams.Help})
)

// Metrics are all of them.
func Metrics() []Metric { return []Metric{aboutRequests, aboutStreams} }

// measured counts what is answered, by the route and not by the path: names and keys are no labels.
func measured(next http.Handler, mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		_, route := mux.Handler(request)
		if route == "" {
			route = "none"
		}
		begun := time.Now()
		seen := &recorder{ResponseWriter: writer, status: http.StatusOK}
		next.ServeHTTP(seen, request)
		replayed := strconv.FormatBool(writer.Header().Get(headerReplayed) != "")
		requests.WithLabelValues(route, strconv.Itoa(seen.status), replayed).Observe(time.Since(begun).Seconds())
	})
}

// recorder keeps the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
