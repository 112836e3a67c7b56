package controller

import (
	"context"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// TestAPanicLeavesTheOutcomeUnknown (I4): nobody knows what was sent before it, be it in an attempt or in a check.
func TestAPanicLeavesTheOutcomeUnknown(t *testing.T) {
	breaks := func(context.Context, effect.Attempt) (effect.Outcome, error) { panic("half way") }
	for of, report := range map[string]func(effect.Outcome, error) lifecycle.Report{"an attempt": reportOf, "a check": checkReport} {
		got := report(guarded(t.Context(), effect.Attempt{}, breaks))
		if got.Outcome != v1alpha1.OutcomeUnknown || got.Permanent || got.Missing || !strings.Contains(got.Message, "half way") {
			t.Errorf("%s: %+v", of, got)
		}
	}
}
