package main

import (
	"context"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestARunFailsWhereAFaultNeverHappened(t *testing.T) {
	happens := func(context.Context, *world, *rand.Rand) error { return nil }
	later := 3
	for _, tt := range []struct {
		reason string
		do     func(context.Context, *world, *rand.Rand) error
		want   string
	}{
		{"it happens", happens, ""},
		{"it happens when it is tried again", func(context.Context, *world, *rand.Rand) error {
			if later--; later > 0 {
				return errNotFired
			}
			return nil
		}, ""},
		{"it never happens", func(context.Context, *world, *rand.Rand) error { return errNotFired }, "[second]"},
		{"it goes wrong", func(context.Context, *world, *rand.Rand) error { return io.ErrUnexpectedEOF }, "second: unexpected EOF"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{options: Options{Duration: 10 * time.Second}}
				err := w.disturb(t.Context(), []fault{{"first", "", happens}, {"second", "", tt.do}}, io.Discard)
				if (tt.want == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), tt.want)) {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

func TestABagHoldsEachFaultOnce(t *testing.T) {
	modes := map[mode]int{}
	for seed := range uint64(20) {
		all := bag(draw(seed, "faults"), faults())
		names := map[string]bool{}
		for _, f := range all {
			names[f.name] = true
			modes[f.in]++
		}
		if len(names) != len(faults()) || len(all) != len(faults()) {
			t.Errorf("seed %d: %d faults, %d different ones", seed, len(all), len(names))
		}
		turns := slices.CompactFunc(all, func(a, b fault) bool { return a.in == b.in })
		if len(turns) != 2 {
			t.Errorf("seed %d: the mode changes %d times", seed, len(turns)-1)
		}
	}
	if len(modes) != 2 || modes[elected] == 0 {
		t.Errorf("modes: %v", modes)
	}
}
