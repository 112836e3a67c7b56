package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestGrowth measures a small history: what is due goes, everything else stays, and there is a figure for each row.
func TestGrowth(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	f, err := measure(t.Context(), 300, 50)
	if err != nil {
		t.Fatal(err)
	}
	if f.left != 252 { // two were made while measuring
		t.Errorf("%d submissions are left", f.left)
	}
	var text bytes.Buffer
	f.print(&text)
	if lines := strings.Count(text.String(), "\n"); lines != 8 || strings.Contains(text.String(), "| 0") {
		t.Errorf("a figure is missing:\n%s", &text)
	}
}
