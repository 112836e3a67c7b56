package main

import (
	"io"
	"math"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/taskonce/taskonce/test/bench/report"
)

// small is too little to say how fast anything is, and enough to say what it costs.
var small = Options{
	Sections: names(), Pairs: 1, Rounds: 1, Profile: 1, Submissions: 40, Gentle: 10, Each: 10, Waiting: 20, Work: 20, Long: 20, History: 300, Orphans: 10, Timeout: 10,
}

// TestEverySectionMeasures runs all sections, and lets none be measured twice.
func TestEverySectionMeasures(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	small := small
	small.Dir = t.TempDir()
	results, err := Run(t.Context(), small, testLog{t})
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range results.Faults() {
		t.Error(fault)
	}
	for _, goal := range results.Goals() {
		if goal.State == "not measured" {
			t.Errorf("not measured: %s", goal.Text)
		}
	}
	small.Keep = true
	again, err := Run(t.Context(), small, io.Discard)
	if err != nil || len(again) != len(results) {
		t.Fatalf("%d sections are kept of %d: %v", len(again), len(results), err)
	}
	bareIsAsBig(t, again)
	twoMeetAndNothingIsDoubled(t, again)
}

func bareIsAsBig(t *testing.T, results report.Results) {
	for _, name := range []string{report.SubmissionBytes, report.RecordBytes} {
		ratio := results.BareSize(name)
		if math.Abs(ratio-1) > report.SameSize || math.IsNaN(ratio) {
			t.Errorf("the bare client's %s are %v of the operator's", name, ratio)
		}
	}
}

func twoMeetAndNothingIsDoubled(t *testing.T, results report.Results) {
	met := results.Median(report.SectionTogether, report.Active, report.Operator, func(s report.Sample) float64 {
		refused := s.Requested(func(c report.Count) bool {
			return c.Conflict && (c.Resource == "taskrecords" || c.Resource == "tasksubmissions/status")
		})
		return refused - float64(s.Submissions/2) // one operator alone is refused the claim of each key's second submission
	})
	if !(met > 0) {
		t.Errorf("the two operators never met: %v refused requests more than one would have", met)
	}
}

type testLog struct{ t *testing.T }

func (l testLog) Write(text []byte) (int, error) {
	l.t.Log(strings.TrimSpace(string(text)))
	return len(text), nil
}
