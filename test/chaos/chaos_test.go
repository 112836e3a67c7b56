package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// TestChaos is a short run: each kind of fault once, some while one replica leads and some while both are active.
func TestChaos(t *testing.T) {
	summary := run(t, Options{Seed: 1, Clients: 6})
	for _, violation := range summary.Violations {
		t.Error(violation)
	}
	if summary.Effects == 0 {
		t.Error("nothing had an effect")
	}
}

// TestChaosFindsAWeakness switches one rule off, and the verdict must be red.
func TestChaosFindsAWeakness(t *testing.T) {
	summary := run(t, Options{Seed: 1, Clients: 6, Weakness: "ignore-settle", Dir: t.TempDir()})
	if !slices.ContainsFunc(summary.Violations, func(said string) bool {
		return strings.HasPrefix(said, "I4: ") && strings.Contains(said, " effects of ")
	}) {
		t.Errorf("no effect was found to have happened more than once: %q", summary.Violations)
	}
}

func run(t *testing.T, options Options) Summary {
	t.Helper()
	log.SetLogger(logr.Discard())
	var said bytes.Buffer
	summary, err := Run(t.Context(), options, &said)
	t.Logf("%s", &said)
	if err != nil {
		t.Fatal(err)
	}
	return summary
}
