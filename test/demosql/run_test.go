package main

import (
	"bytes"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// TestDemoSQL plays what "make demo-sql" plays.
func TestDemoSQL(t *testing.T) {
	log.SetLogger(logr.Discard())
	var said bytes.Buffer
	red, err := Run(t.Context(), &said)
	if t.Logf("%s", &said); err != nil || red > 0 {
		t.Errorf("%d are red, and the error is %v", red, err)
	}
}
