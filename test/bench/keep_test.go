package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/taskonce/taskonce/test/bench/report"
)

// TestAnInterruptedRunIsGoneOnWith begins in a folder that has everything from an earlier day.
func TestAnInterruptedRunIsGoneOnWith(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{report.SectionWays, report.SectionSlow, report.SectionPeer} {
		complete(t, dir, name)
	}
	options := small
	options.Dir, options.Sections = dir, []string{report.SectionWays, report.SectionSlow}
	interrupted := errors.New("interrupted")
	measured := func(keep bool) (settings int) {
		options.Keep = keep
		b := &bench{options: options, progress: io.Discard, open: func(context.Context, setting, Options, io.Writer) (*world, error) {
			settings++
			return nil, interrupted
		}}
		if _, err := b.run(t.Context()); settings > 0 != errors.Is(err, interrupted) {
			t.Fatal(err)
		}
		return settings
	}
	if measured(true) != 0 {
		t.Fatal("the folder is complete, and something is measured")
	}
	if measured(false) != 1 {
		t.Fatal("nothing is measured anew")
	}
	complete(t, dir, report.SectionWays)
	if measured(true) != 1 {
		t.Error("what an earlier day has of the second section is taken for this run's")
	}
	if left, err := report.Read(dir); err != nil || left[report.SectionPeer] == nil || left[report.SectionSlow] != nil {
		t.Errorf("a run removes what it measures, and nothing else: %v, %v", left, err)
	}
}

// TestAnotherVersionsPairsAreNotGoneOnWith: they are measured anew, unless there are enough of them.
func TestAnotherVersionsPairsAreNotGoneOnWith(t *testing.T) {
	b := &bench{options: small, progress: io.Discard, open: func(context.Context, setting, Options, io.Writer) (*world, error) {
		return nil, errors.New("not here")
	}}
	b.options.Pairs = 2
	kept := &report.Section{Name: report.SectionSlow, Machine: report.Machine{Version: "another"}}
	kept.Of(report.TenASec).Pairs = make([]report.Pair, 1)
	if err := b.measure(t.Context(), find(kept.Name), kept); err == nil || len(kept.Of(report.TenASec).Pairs) != 0 {
		t.Errorf("%d pairs of another version are gone on with", len(kept.Of(report.TenASec).Pairs))
	}
	kept = &report.Section{Name: report.SectionSlow, Machine: machine()}
	kept.Of(report.TenASec).Pairs = make([]report.Pair, 1)
	if err := b.measure(t.Context(), find(kept.Name), kept); err == nil || len(kept.Of(report.TenASec).Pairs) != 1 {
		t.Errorf("%d pairs are left of one", len(kept.Of(report.TenASec).Pairs))
	}
}

// complete puts a section into the folder that has all that it is to have.
func complete(t *testing.T, dir, name string) {
	t.Helper()
	section := &report.Section{Name: name}
	for _, c := range find(name).comparisons(small) {
		section.Of(c.name).Pairs = slices.Repeat([]report.Pair{{}}, c.pairs)
	}
	if err := section.Write(dir); err != nil {
		t.Fatal(err)
	}
}
