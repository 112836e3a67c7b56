package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Profile is what part of a program's processor time each group of functions has, by program.
type Profile map[string]map[string]float64

// group is what functions are for, by where their names begin.
type group struct {
	name  string
	begin []string
}

// groups are in the order in which they are tried.
var groups = []group{
	{"JSON", []string{"encoding/json", "sigs.k8s.io/json", "github.com/json-iterator", "k8s.io/apimachinery/pkg/runtime/serializer", "github.com/fxamacker/cbor", "k8s.io/apimachinery/third_party/forked/golang/json"}},
	{"managed fields", []string{"sigs.k8s.io/structured-merge-diff", "k8s.io/apimachinery/pkg/util/managedfields"}},
	{"CEL", []string{"github.com/google/cel-go", "k8s.io/apiserver/pkg/cel", "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel", "k8s.io/apiserver/pkg/admission/plugin/policy", "k8s.io/apiserver/pkg/admission/plugin/cel"}},
	{"schemas of custom resources", []string{"k8s.io/apiextensions-apiserver", "k8s.io/kube-openapi"}},
	{"webhooks", []string{"k8s.io/apiserver/pkg/admission/plugin/webhook", "k8s.io/apiserver/pkg/util/webhook", "sigs.k8s.io/controller-runtime/pkg/webhook"}},
	{"etcd's client", []string{"go.etcd.io", "google.golang.org/grpc", "k8s.io/apiserver/pkg/storage/etcd3", "github.com/gogo/protobuf", "google.golang.org/protobuf"}},
	{"watches", []string{"k8s.io/apiserver/pkg/storage/cacher", "k8s.io/apiserver/pkg/endpoints/handlers.(*WatchServer)", "k8s.io/apimachinery/pkg/watch", "k8s.io/client-go/tools/cache", "sigs.k8s.io/controller-runtime/pkg/cache"}},
	{"HTTP and TLS", []string{"net/http", "golang.org/x/net/http2", "crypto/", "vendor/golang.org/x", "compress/", "k8s.io/client-go/transport"}},
	{"who may do what, in what order", []string{"k8s.io/apiserver/pkg/authentication", "k8s.io/apiserver/pkg/authorization", "k8s.io/kubernetes/plugin/pkg/auth", "k8s.io/apiserver/pkg/audit", "k8s.io/apiserver/pkg/util/flowcontrol", "k8s.io/apiserver/pkg/endpoints/filters", "k8s.io/apiserver/pkg/server/filters"}},
	{"metrics, traces and logs", []string{"k8s.io/component-base", "github.com/prometheus", "k8s.io/klog", "go.opentelemetry.io", "k8s.io/apiserver/pkg/endpoints/metrics", "github.com/go-logr", "go.uber.org/zap", "log/slog"}},
	{"objects: conversion and copies", []string{"k8s.io/apimachinery/pkg", "k8s.io/api/", "k8s.io/kubernetes/pkg/apis"}},
	{"requests of the API", []string{"k8s.io/apiserver", "k8s.io/kubernetes/pkg", "k8s.io/client-go"}},
	{"the operator's own", []string{"github.com/taskonce", "sigs.k8s.io/controller-runtime"}},
}

// Groups of what no function asks for.
const (
	groupGarbage   = "garbage collection"
	groupScheduler = "Go's scheduler and the rest"
)

// GroupOf says what a stack is for, the innermost function first: what the Go runtime and its library do is for whom they
// do it.
func GroupOf(stack []string) string {
	for _, function := range stack {
		if strings.HasPrefix(function, "runtime.gc") || strings.HasPrefix(function, "runtime.bg") {
			return groupGarbage
		}
		for _, g := range groups {
			if slices.ContainsFunc(g.begin, func(begin string) bool { return strings.HasPrefix(function, begin) }) {
				return g.name
			}
		}
	}
	return groupScheduler
}

// profileOf returns what was taken of a side; nil: nothing was.
func (r Results) profileOf(section, comparison, side, program string) map[string]float64 {
	if r[section] == nil {
		return nil
	}
	for _, c := range r[section].Comparisons {
		if c.Name == comparison {
			return c.Profiles[side][program]
		}
	}
	return nil
}

// largest returns the groups of a profile, the largest first.
func largest(shares map[string]float64, most int) []string {
	names := sortedKeys(shares)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(shares[b], shares[a]) })
	return names[:min(most, len(names))]
}

// profiled are whose profiles the page has, in columns.
func (r Results) profiled() []map[string]float64 {
	return []map[string]float64{
		r.profileOf(SectionRate, Busy, Operator, APIServer), r.profileOf(SectionRate, Busy, Bare, APIServer),
		r.profileOf(SectionRate, Saturated, Operator, APIServer), r.profileOf(SectionPeer, AtOnce, Operator, APIServer), r.profileOf(SectionPeer, AtOnce, Jobs, APIServer),
		r.profileOf(SectionStampede, Stampede, Duplicate, APIServer), r.profileOf(SectionStampede, Stampede, Refused, APIServer),
		r.profileOf(SectionRate, Busy, Operator, Manager),
	}
}

// profiles is where the processor time goes: the ten largest groups.
func (r Results) profiles() block {
	b := block{name: "profile", title: "Where the processor time goes", head: []string{
		"", "API server, submissions, 32 clients", "bare client", "256 clients", "beside Jobs' controller", "Jobs", "duplicates", "refused creates", "manager, 32 clients",
	}}
	columns := r.profiled()
	sum := map[string]float64{}
	for _, column := range columns {
		for name, share := range column {
			sum[name] += share
		}
	}
	for _, name := range largest(sum, 10) {
		cells := make([]string, len(columns))
		for i, column := range columns {
			cells[i] = "–"
			if column != nil {
				cells[i] = percent(column[name])
			}
		}
		b.add(name, cells...)
	}
	return b
}

// whatProfilesSay names the largest groups of a side's API server beside another side's; nothing where they are not measured.
func (r Results) whatProfilesSay(section, comparison, side, by string) string {
	one, other := r.profileOf(section, comparison, side, APIServer), r.profileOf(section, comparison, by, APIServer)
	if one == nil || other == nil {
		return ""
	}
	var parts []string
	for _, name := range largest(one, 4) {
		parts = append(parts, fmt.Sprintf("%s %s (%s)", name, percent(one[name]), percent(other[name])))
	}
	return fmt.Sprintf(" The API server's profile, and in parentheses that beside it (%s): %s.", by, strings.Join(parts, ", "))
}

func percent(share float64) string { return number(100*share) + " %" }
