// Package telemetry is what can be seen of the operator: metrics, the audit log and events, all fed by one account of
// what was written. Labels are bounded: never a key, and never a name that a submitter chose.
package telemetry

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Metric describes one metric of the operator's own; docs/metrics.md is made from them.
type Metric struct {
	Name, Type, Help string
	Labels           []string
}

// UnknownTemplate is the label of templates that do not exist: submitters could invent any number of names.
const UnknownTemplate = "unknown"

// labelTemplate is the name of a template that exists. Templates of one name in several namespaces share a series.
const labelTemplate = "template"

var (
	catalogue []Metric
	// perTemplate are the metrics whose series of a template are dropped with it.
	perTemplate []interface {
		DeletePartialMatch(prometheus.Labels) int
	}
)

// Catalogue returns all metrics of the operator's own, by name.
func Catalogue() []Metric {
	all := slices.Clone(catalogue)
	slices.SortFunc(all, func(a, b Metric) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// ForgetTemplate drops the series of a template that exists in no namespace any more.
func ForgetTemplate(name string) {
	for _, vec := range perTemplate {
		vec.DeletePartialMatch(prometheus.Labels{labelTemplate: name})
	}
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	perTemplate = append(perTemplate, vec)
	register(vec, name, "counter", help, labels)
	return vec
}

// total is a counter without labels. It is there from the start.
func total(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	register(c, name, "counter", help, nil)
	return c
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	vec := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	perTemplate = append(perTemplate, vec)
	register(vec, name, "histogram", help, labels)
	return vec
}

func gauge(name, help string) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	register(g, name, "gauge", help, nil)
	return g
}

// computed describes a gauge whose value a collector computes at each scrape.
func computed(name, help string, labels ...string) *prometheus.Desc {
	catalogue = append(catalogue, Metric{Name: name, Type: "gauge", Help: help, Labels: labels})
	return prometheus.NewDesc(name, help, labels, nil)
}

func register(collector prometheus.Collector, name, kind, help string, labels []string) {
	catalogue = append(catalogue, Metric{Name: name, Type: kind, Help: help, Labels: labels})
	metrics.Registry.MustRegister(collector)
}
