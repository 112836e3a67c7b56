package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// TestQuick measures too little to say how fast anything is, and enough to say what it costs.
func TestQuick(t *testing.T) {
	report, err := Run(t.Context(), Options{Pairs: 2, Submissions: 40, InFlight: 8, Gentle: time.Second}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	report.print(&said)
	t.Logf("%s", &said)
	for _, fault := range report.Faults {
		t.Error(fault)
	}
	if report.Effects != report.Expected || report.Expected < 2*40 {
		t.Errorf("%d of %d effects", report.Effects, report.Expected)
	}
	const most = 0.02 // names and times differ in length
	for _, size := range [][2]int{
		{report.Objects.Operator.Submission, report.Objects.Bare.Submission}, {report.Objects.Operator.Record, report.Objects.Bare.Record},
	} {
		if difference := float64(size[1]-size[0]) / float64(size[0]); difference < -most || difference > most {
			t.Errorf("the bare client's object has %d bytes, the operator's %d", size[1], size[0])
		}
	}
	for _, phase := range []*Phase{&report.Pairs[0].Operator, &report.Pairs[1].Operator, report.Alone, report.Gentle} {
		if phase.P50 <= 0 || phase.P95 < phase.P50 || phase.PerSecond <= 0 {
			t.Errorf("times of %+v", phase)
		}
	}
	if report.MedianRatio <= 0 || report.Burst != nil {
		t.Errorf("ratio %v, burst %v", report.MedianRatio, report.Burst)
	}
}

func TestTheVerdictBites(t *testing.T) {
	ours := func(verb, resource string) Request {
		return Request{Verb: verb, Group: v1alpha1.GroupVersion.Group, Resource: resource}
	}
	status := ours("PUT", "tasksubmissions/status")
	conflict := status
	conflict.Conflict = true
	shown := map[string]int{"Processing/Executing": 2}
	for _, tt := range []struct {
		reason string
		change func(*Phase)
		want   string // empty: nothing is wrong
	}{
		{"all is well", func(*Phase) {}, ""},
		{"it took long", func(p *Phase) { p.Took = time.Hour }, ""},
		{"a sweep", func(p *Phase) { p.requests[ours("LIST", "taskrecords")] = 1 }, ""},
		{"effects that took long", func(p *Phase) { p.Between, p.requests[status] = shown, 12 }, ""},
		{"and conflicts with that", func(p *Phase) {
			p.Between, p.requests[status], p.requests[conflict], p.requests[ours("GET", "taskrecords")] = shown, 12, 1, 1
		}, ""},
		{"the receiver's first answer", func(p *Phase) { p.requests[ours("PUT", "tasktemplates/status")] = 1 }, ""},
		{"a template that is written again", func(p *Phase) { p.requests[ours("PUT", "tasktemplates/status")] = 2 }, "written 2 times"},
		{"shown as Processing for nothing", func(p *Phase) { p.Between, p.requests[status], p.Hasty = shown, 12, 1 }, "ended within 500ms"},
		{"a fourth write", func(p *Phase) { p.requests[status] = 20 }, "40 writes for 10"},
		{"a single write too many", func(p *Phase) { p.requests[ours("PUT", "taskrecords")] = 11 }, "31 writes for 10"},
		{"a write less", func(p *Phase) { delete(p.requests, ours("PUT", "taskrecords")) }, "20 writes for 10"},
		{"an event", func(p *Phase) { p.requests[Request{Verb: "POST", Group: "events.k8s.io", Resource: "events"}] = 1 }, "31 writes"},
		{"a patch", func(p *Phase) { p.requests[ours("PATCH", "taskrecords")] = 1 }, "31 writes"},
		{"a conflict for nothing", func(p *Phase) { p.requests[conflict] = 1 }, "1 conflicts, and there was nobody"},
		{"a read", func(p *Phase) { p.requests[ours("GET", "taskrecords")] = 1 }, "1 GETs"},
		{"a secret is read", func(p *Phase) { p.requests[Request{Verb: "GET", Resource: "secrets"}] = 1 }, "1 GETs"},
		{"a list for each", func(p *Phase) { p.requests[ours("LIST", "taskrecords")] = 10 }, "10 LISTs"},
		{"a client that tried twice", func(p *Phase) { p.requests[ours("POST", "tasksubmissions")] = 11 }, "11 requests"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			phase := &Phase{Submissions: 10, requests: requests{
				ours("POST", "tasksubmissions"): 10, ours("POST", "taskrecords"): 10, ours("PUT", "taskrecords"): 10, status: 10,
			}}
			tt.change(phase)
			checkFaults(t, operatorFaults(phase), tt.want)
		})
	}
}

func TestTheBareClientIsHeldToItsWrites(t *testing.T) {
	create := Request{Verb: "POST", Group: bareGroup.Group, Resource: "taskrecords"}
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
			checkFaults(t, bareFaults(&Phase{Submissions: 10, requests: requests{
				create: tt.creates,
				{Verb: "PUT", Group: bareGroup.Group, Resource: "taskrecords"}:               20,
				{Verb: "PUT", Group: v1alpha1.GroupVersion.Group, Resource: "tasktemplates"}: tt.idle,
			}}), tt.want)
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
	once, faults := r.compare([]string{"ns/a", "ns/b", "ns/c"})
	if once != 1 || len(faults) != 3 {
		t.Errorf("%d, %q", once, faults)
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
		{Verb: "POST", Group: "taskonce.dev", Resource: "taskrecords"}:                 1200,
		{Verb: "POST", Group: "taskonce.dev", Resource: "taskrecords", Conflict: true}: 1,
		{Verb: "PUT", Group: "taskonce.dev", Resource: "tasksubmissions/status"}:       3,
	}
	if err != nil || len(got) != len(want) || len(got.since(want)) != 0 || len(want.since(got)) != 0 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestFlags(t *testing.T) {
	for _, tt := range []struct {
		reason, flags string
		want          Options // zero: refused
	}{
		{"nothing", "", full},
		{"quick", "--quick", quick},
		{"quick with more", "--quick --pairs=4 --gentle=1s", Options{Pairs: 4, Submissions: quick.Submissions, InFlight: quick.InFlight, Gentle: time.Second}},
		{"no pairs", "--pairs=0", Options{}},
		{"an argument", "fast", Options{}},
	} {
		got, err := parse(strings.Fields(tt.flags), io.Discard)
		if got != tt.want || (err != nil) != (tt.want == Options{}) {
			t.Errorf("%s: %+v, %v", tt.reason, got, err)
		}
	}
}
