package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/bench/report"
)

// request is one kind of request to the API server.
type request struct {
	verb     string
	group    string
	resource string // with its subresource, as in tasksubmissions/status
	conflict bool   // the API server refused it, since somebody had been first
}

// requests counts requests.
type requests map[request]int

var (
	counter = regexp.MustCompile(`^apiserver_request_total\{(.*)\} ([0-9.e+]+)$`)
	label   = regexp.MustCompile(`(\w+)="([^"]*)"`)
)

// parseRequests reads the API server's metrics. Watches are left out: they are counted when they end.
func parseRequests(metrics []byte) (requests, error) {
	counts := requests{}
	lines := bufio.NewScanner(bytes.NewReader(metrics))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		match := counter.FindStringSubmatch(lines.Text())
		if match == nil {
			continue
		}
		labels := map[string]string{}
		for _, pair := range label.FindAllStringSubmatch(match[1], -1) {
			labels[pair[1]] = pair[2]
		}
		count, err := strconv.ParseFloat(match[2], 64)
		if err != nil {
			return nil, err
		}
		resource := strings.TrimSuffix(labels["resource"]+"/"+labels["subresource"], "/")
		made := request{verb: labels["verb"], group: labels["group"], resource: resource, conflict: labels["code"] == "409"}
		if made.verb != "WATCH" && reachable(made) {
			counts[made] += int(count)
		}
	}
	return counts, lines.Err()
}

// reachable says whether the operator's rights, the bare client's work or the Job controller's reach so far. Leases and
// reviews are left out: they come by time and not by submission.
func reachable(r request) bool {
	switch r.group {
	case v1alpha1.GroupVersion.Group, bareGroup.Group, "events.k8s.io", "batch":
		return true
	case "":
		return r.resource == "secrets" || r.resource == "events" || strings.HasPrefix(r.resource, "pods")
	default:
		return false
	}
}

// scrape returns what has been requested so far. The API server counts a request a little after it has answered it, so
// that two looks must agree.
func scrape(ctx context.Context, server rest.Interface) (requests, error) {
	var before requests
	for range 50 {
		text, err := server.Get().AbsPath("/metrics").DoRaw(ctx)
		if err != nil {
			return nil, err
		}
		now, err := parseRequests(text)
		if err != nil || (before != nil && maps.Equal(before, now)) {
			return now, err
		}
		before = now
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil, fmt.Errorf("the API server is never at rest: somebody is writing who should not")
}

// since returns what came after an earlier look.
func (r requests) since(earlier requests) requests {
	fresh := requests{}
	for request, count := range r {
		if count > earlier[request] {
			fresh[request] = count - earlier[request]
		}
	}
	return fresh
}

// counts tells who made which requests: the client what a straight path has of it, and a section knows better.
func (r requests) counts() (counts []report.Count) {
	for made, number := range r {
		count := report.Count{Verb: made.verb, Group: made.group, Resource: made.resource, Conflict: made.conflict, Number: number, By: report.Operator}
		switch {
		case made.group == bareGroup.Group:
			count.By = report.Bare
		case isClientCreate(count):
			count.By = byClient
		case isTemplateStatus(count):
			count.By = byTemplate
		}
		counts = append(counts, count)
	}
	slices.SortFunc(counts, func(a, b report.Count) int {
		return strings.Compare(a.Group+a.Resource+a.Verb+fmt.Sprint(a.Conflict), b.Group+b.Resource+b.Verb+fmt.Sprint(b.Conflict))
	})
	return counts
}

// Who makes requests beside those who are measured: a submission's client, and whoever has a template.
const (
	byClient   = "client"
	byTemplate = "template"
)

// isClientCreate is the one request of the straight path that is the client's own.
func isClientCreate(c report.Count) bool {
	return c.Verb == http.MethodPost && c.Group == v1alpha1.GroupVersion.Group && c.Resource == "tasksubmissions"
}

// isTemplateStatus reports whether a request says something of a template, which is none of a submission's cost.
func isTemplateStatus(c report.Count) bool {
	return c.Verb == http.MethodPut && c.Group == v1alpha1.GroupVersion.Group && c.Resource == "tasktemplates/status"
}
