package main

import (
	"io"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/bench/report"
)

func TestTheVerdictBites(t *testing.T) {
	ours := func(verb, resource string) request {
		return request{verb: verb, group: v1alpha1.GroupVersion.Group, resource: resource}
	}
	status := ours("PUT", "tasksubmissions/status")
	conflict := status
	conflict.conflict = true
	shown := map[string]int{"Processing/Executing": 2}
	for _, tt := range []struct {
		reason string
		change func(*report.Sample, requests)
		want   string // empty: nothing is wrong
	}{
		{"all is well", func(*report.Sample, requests) {}, ""},
		{"it took long", func(s *report.Sample, _ requests) { s.Seconds = 3600 }, ""},
		{"a sweep", func(_ *report.Sample, made requests) { made[ours("LIST", "taskrecords")] = 1 }, ""},
		{"effects that took long", func(s *report.Sample, made requests) { s.Between, made[status] = shown, 12 }, ""},
		{"and conflicts with that", func(s *report.Sample, made requests) {
			s.Between, made[status], made[conflict], made[ours("GET", "taskrecords")] = shown, 12, 1, 1
		}, ""},
		{"the certificate is looked at", func(_ *report.Sample, made requests) { made[request{verb: "GET", resource: "secrets"}] = 1 }, ""},
		{"the receiver's first answer", func(_ *report.Sample, made requests) { made[ours("PUT", "tasktemplates/status")] = 1 }, ""},
		{"a template that is written again", func(_ *report.Sample, made requests) { made[ours("PUT", "tasktemplates/status")] = 2 }, "written 2 times"},
		{"shown as Processing for nothing", func(s *report.Sample, made requests) { s.Between, made[status], s.Hasty = shown, 12, 1 }, "ended within 500ms"},
		{"a fourth write", func(_ *report.Sample, made requests) { made[status] = 20 }, "40 writes for 10"},
		{"a single write too many", func(_ *report.Sample, made requests) { made[ours("PUT", "taskrecords")] = 11 }, "31 writes for 10"},
		{"a write less", func(_ *report.Sample, made requests) { delete(made, ours("PUT", "taskrecords")) }, "20 writes for 10"},
		{"an event", func(_ *report.Sample, made requests) {
			made[request{verb: "POST", group: "events.k8s.io", resource: "events"}] = 1
		}, "31 writes"},
		{"a patch", func(_ *report.Sample, made requests) { made[ours("PATCH", "taskrecords")] = 1 }, "31 writes"},
		{"a conflict for nothing", func(_ *report.Sample, made requests) { made[conflict] = 1 }, "1 conflicts, and there was nobody"},
		{"a read", func(_ *report.Sample, made requests) { made[ours("GET", "taskrecords")] = 1 }, "1 GETs"},
		{"a secret is read twice", func(_ *report.Sample, made requests) { made[request{verb: "GET", resource: "secrets"}] = 2 }, "1 GETs"},
		{"a list for each", func(_ *report.Sample, made requests) { made[ours("LIST", "taskrecords")] = 11 }, "11 LISTs"},
		{"a client that tried twice", func(_ *report.Sample, made requests) { made[ours("POST", "tasksubmissions")] = 11 }, "11 requests"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			sample, made := &report.Sample{Submissions: 10}, requests{
				ours("POST", "tasksubmissions"): 10, ours("POST", "taskrecords"): 10, ours("PUT", "taskrecords"): 10, status: 10,
			}
			tt.change(sample, made)
			sample.Requests = made.counts()
			checkFaults(t, straightFaults(sample), tt.want)
		})
	}
}

func TestTheBareClientIsHeldToItsWrites(t *testing.T) {
	create := request{verb: "POST", group: bareGroup.Group, resource: "taskrecords"}
	for _, tt := range []struct {
		reason  string
		creates int
		idle    int
		want    string
	}{
		{"all is well", 20, 0, ""},
		{"a bare client that does less", 19, 0, "39 writes"},
		{"an operator that is busy when idle", 20, 2, "nothing to do"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			checkFaults(t, bareFaults(&report.Sample{Submissions: 10, Requests: requests{
				create: tt.creates,
				{verb: "PUT", group: bareGroup.Group, resource: "taskrecords"}:               20,
				{verb: "PUT", group: v1alpha1.GroupVersion.Group, resource: "tasktemplates"}: tt.idle,
			}.counts()}), tt.want)
		})
	}
}

func checkFaults(t *testing.T, faults []string, want string) {
	t.Helper()
	if said := strings.Join(faults, "; "); (want == "") != (said == "") || !strings.Contains(said, want) {
		t.Errorf("faults: %q, want %q", said, want)
	}
}

func TestEffectsAreCompared(t *testing.T) {
	r := &receiver{effects: map[string]int{"ns/a": 1, "ns/b": 2, "ns/d": 1}}
	if faults := r.compare([]string{"ns/a", "ns/b", "ns/c"}); len(faults) != 3 {
		t.Errorf("%q", faults)
	}
}

func TestParseRequests(t *testing.T) {
	got, err := parseRequests([]byte(`# TYPE apiserver_request_total counter
apiserver_request_total{code="201",component="apiserver",dry_run="",group="taskonce.dev",resource="taskrecords",scope="resource",subresource="",verb="POST",version="v1alpha1"} 1.2e+03
apiserver_request_total{code="409",component="apiserver",dry_run="",group="taskonce.dev",resource="taskrecords",scope="resource",subresource="",verb="POST",version="v1alpha1"} 1
apiserver_request_total{code="200",component="apiserver",dry_run="",group="taskonce.dev",resource="tasksubmissions",scope="resource",subresource="status",verb="PUT",version="v1alpha1"} 3
apiserver_request_total{code="0",component="apiserver",dry_run="",group="taskonce.dev",resource="tasksubmissions",scope="cluster",subresource="",verb="WATCH",version="v1alpha1"} 4
apiserver_request_total{code="200",component="apiserver",dry_run="",group="coordination.k8s.io",resource="leases",scope="resource",subresource="",verb="PUT",version="v1"} 5
apiserver_request_duration_seconds_count{group="taskonce.dev"} 6
`))
	want := requests{
		{verb: "POST", group: "taskonce.dev", resource: "taskrecords"}:                 1200,
		{verb: "POST", group: "taskonce.dev", resource: "taskrecords", conflict: true}: 1,
		{verb: "PUT", group: "taskonce.dev", resource: "tasksubmissions/status"}:       3,
	}
	if err != nil || len(got) != len(want) || len(got.since(want)) != 0 || len(want.since(got)) != 0 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestFlags(t *testing.T) {
	for _, tt := range []struct {
		reason, flags string
		want          func(*Options) // nil: refused
		from          Options
	}{
		{"nothing", "", func(*Options) {}, full},
		{"quick", "--quick", func(*Options) {}, quick},
		{"quick with more", "--quick --pairs=4 --dir=d", func(o *Options) { o.Pairs, o.Dir = 4, "d" }, quick},
		{"some sections", "--only=peer,rate", func(o *Options) { o.Sections = []string{"peer", "rate"} }, full},
		{"no section of that name", "--only=fast", nil, full},
		{"nowhere to go on from", "--keep", nil, full},
		{"no pairs", "--pairs=0", nil, full},
		{"an argument", "fast", nil, full},
	} {
		got, err := parse(strings.Fields(tt.flags), io.Discard)
		if (err != nil) != (tt.want == nil) {
			t.Errorf("%s: %v", tt.reason, err)
		}
		if tt.want == nil {
			continue
		}
		tt.want(&tt.from)
		if strings.Join(got.Sections, ",") != strings.Join(tt.from.Sections, ",") || got.Pairs != tt.from.Pairs || got.Dir != tt.from.Dir || got.Submissions != tt.from.Submissions {
			t.Errorf("%s: %+v", tt.reason, got)
		}
	}
}
