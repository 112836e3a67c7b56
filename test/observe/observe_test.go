package main

import (
	"bytes"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// TestWhatIsSeenIsWhatHappened plays the load with the real operator and Prometheus; every counter, gauge and panel has to
// be what the receiver, the clients and the API server say.
func TestWhatIsSeenIsWhatHappened(t *testing.T) {
	log.SetLogger(logr.Discard())
	report, err := Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range report.Faults {
		t.Error(fault)
	}
	var text bytes.Buffer
	report.Print(&text)
	t.Logf("%s", &text)
}
