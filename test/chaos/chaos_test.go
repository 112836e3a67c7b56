package main

import (
	"bytes"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// TestChaos is a short run: each kind of fault once.
func TestChaos(t *testing.T) {
	log.SetLogger(logr.Discard())
	var said bytes.Buffer
	summary, err := Run(t.Context(), Options{Seed: 1, Clients: 3}, &said)
	t.Logf("%s", &said)
	if err != nil {
		t.Fatal(err)
	}
	for _, violation := range summary.Violations {
		t.Error(violation)
	}
	if summary.Effects == 0 {
		t.Error("nothing had an effect")
	}
}
