package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Request is one kind of request to the API server.
type Request struct {
	Verb     string `json:"verb"`
	Group    string `json:"group"`
	Resource string `json:"resource"` // with its subresource, as in tasksubmissions/status
	// Conflict: the API server refused it, since somebody had been first.
	Conflict bool `json:"conflict,omitempty"`
}

// requests counts requests.
type requests map[Request]int

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
		request := Request{Verb: labels["verb"], Group: labels["group"], Resource: resource, Conflict: labels["code"] == "409"}
		if request.Verb != "WATCH" && reachable(request) {
			counts[request] += int(count)
		}
	}
	return counts, lines.Err()
}

// reachable says whether the operator's rights, or the bare client's work, reach so far. Leases and reviews are left
// out: they come by time and not by submission.
func reachable(r Request) bool {
	switch r.Group {
	case v1alpha1.GroupVersion.Group, bareGroup.Group, "events.k8s.io":
		return true
	case "":
		return r.Resource == "secrets" || r.Resource == "events"
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

func (r requests) sum(which func(Request) bool) (sum int) {
	for request, count := range r {
		if which(request) {
			sum += count
		}
	}
	return sum
}

func (r requests) sorted() []Request {
	return slices.SortedFunc(maps.Keys(r), func(a, b Request) int {
		return strings.Compare(a.Resource+" "+a.Verb, b.Resource+" "+b.Verb)
	})
}

func isWrite(r Request) bool { return r.Verb != "GET" && r.Verb != "LIST" }

func isBare(r Request) bool { return r.Group == bareGroup.Group }

// isClientCreate is the one request of the straight path that is the client's own.
func isClientCreate(r Request) bool {
	return r == Request{Verb: "POST", Group: v1alpha1.GroupVersion.Group, Resource: "tasksubmissions"}
}

func isOperatorWrite(r Request) bool {
	return isWrite(r) && !isBare(r) && !isClientCreate(r) && !isTemplateStatus(r)
}

// isTemplateStatus reports whether a request says something of a template, which is none of a submission's cost.
func isTemplateStatus(r Request) bool {
	return r.Verb == "PUT" && r.Group == v1alpha1.GroupVersion.Group && r.Resource == "tasktemplates/status"
}

func isOperatorGet(r Request) bool { return r.Verb == "GET" && !isBare(r) }

func isOperatorList(r Request) bool { return r.Verb == "LIST" && !isBare(r) }
