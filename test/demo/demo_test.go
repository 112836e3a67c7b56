package main

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/taskonce/taskonce/test/harness"
)

// TestDemo plays what "make demo" plays, and then each of the rules switched off that a step is there to need.
func TestDemo(t *testing.T) {
	log.SetLogger(logr.Discard())
	plane, err := harness.Start(harness.Options{CRDs: true, Controllers: controllers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	play := func(t *testing.T, options Options) Verdict {
		t.Helper()
		options.ControlPlane = plane
		var said bytes.Buffer
		verdict, err := Run(t.Context(), options, &said)
		if t.Logf("%s", &said); err != nil {
			t.Fatal(err)
		}
		return verdict
	}

	t.Run("all rules hold", func(t *testing.T) {
		verdict := play(t, Options{})
		if red := verdict.Red(); len(verdict) != len(steps()) || len(red) > 0 {
			t.Errorf("%d steps of %d were judged; red: %q", len(verdict), len(steps()), red)
		}
		if code := exitCode(verdict, nil); code != 0 {
			t.Errorf("the exit code is %d", code)
		}
	})
	for _, tt := range []struct{ fault, step string }{
		{"reuse-connections", "warm connection"},
		{"ignore-settle", "late commit"},
		{"no-orphan-wait", "killed"},
	} {
		t.Run(tt.fault, func(t *testing.T) {
			verdict := play(t, Options{Fault: tt.fault, Steps: []string{tt.step}})
			if red := verdict.Red(); !slices.Equal(red, []string{tt.step}) {
				t.Fatalf("red: %q, want %q", red, tt.step)
			}
			doubled := func(f Finding) bool { return !f.OK() && strings.HasSuffix(f.Got, " effects") }
			if !slices.ContainsFunc(verdict[0].Findings, doubled) {
				t.Errorf("red, but not for a second effect: %+v", verdict[0].Findings)
			}
			if code := exitCode(verdict, nil); code == 0 {
				t.Error("the exit code is 0")
			}
		})
	}
}

func TestExitCode(t *testing.T) {
	green := Verdict{{Step: "a", Findings: []Finding{{"1 effect", "1 effect"}}}}
	red := Verdict{green[0], {Step: "b", Findings: []Finding{{"1 effect", "2 effects"}}}}
	for _, tt := range []struct {
		reason  string
		verdict Verdict
		err     error
		code    int
	}{
		{"all as expected", green, nil, 0},
		{"one thing differs", red, nil, 1},
		{"something could not be played", green, errors.New("no"), 1},
	} {
		if code := exitCode(tt.verdict, tt.err); code != tt.code {
			t.Errorf("%s: %d, want %d", tt.reason, code, tt.code)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		reason  string
		options Options
		steps   int // -1: refused
	}{
		{"everything", Options{}, len(steps())},
		{"two of them", Options{Steps: []string{"killed", "stampede"}}, 2},
		{"a step that there is not", Options{Steps: []string{"killed", "none"}}, -1},
		{"a fault that there is not", Options{Fault: "none"}, -1},
	} {
		chosen, err := tt.options.selected()
		if (err != nil) != (tt.steps < 0) || err == nil && len(chosen) != tt.steps {
			t.Errorf("%s: %q, %v", tt.reason, names(chosen), err)
		}
	}
}
