package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/taskonce/taskonce/test/bench/report"
)

// section is one question. Sections with one setting that follow each other share a control plane.
type section struct {
	name    string
	setting setting
	// apart: it is measured only where it is named.
	apart bool
	// comparisons are measured in turns, a pair of each, unless they are ordered: one leaves what the next one needs.
	ordered     bool
	comparisons func(Options) []comparison
}

// comparison is what is compared, in turns.
type comparison struct {
	name  string
	pairs int
	sides []side
	// profiled: it is done once more in the end, for its profiles alone.
	profiled bool
}

// side is one of the things that are compared.
type side struct {
	name    string
	measure func(context.Context, *world) (report.Sample, error)
}

// sections returns all of them.
func sections() []section {
	return []section{
		rate(), gentle(), ways(), slow(), together(), gateway(), webhook(), stampede(), peer(), history(), memory(), long(),
	}
}

func names() (names []string) {
	for _, s := range sections() {
		names = append(names, s.name)
	}
	return names
}

// usual are the sections that are measured unless some are named.
func usual() (names []string) {
	for _, s := range sections() {
		if !s.apart {
			names = append(names, s.name)
		}
	}
	return names
}

func find(name string) *section {
	all := sections()
	if i := slices.IndexFunc(all, func(s section) bool { return s.name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// Run measures, and returns what it has, also with an error: that it could not be done. What is wrong with what was
// measured is in the results.
func Run(ctx context.Context, options Options, progress io.Writer) (report.Results, error) {
	return (&bench{options: options, progress: progress, open: open}).run(ctx)
}

// bench is a run.
type bench struct {
	options  Options
	progress io.Writer
	open     func(context.Context, setting, Options, io.Writer) (*world, error)
	world    *world // of the last section; nil: of none yet
}

func (b *bench) run(ctx context.Context) (results report.Results, err error) {
	if results, err = b.kept(); err != nil {
		return report.Results{}, err
	}
	defer func() { err = errors.Join(err, b.world.shut()) }()
	for _, name := range b.options.Sections {
		if results[name] == nil {
			results[name] = &report.Section{Name: name, Machine: machine()}
		}
		if err := b.measure(ctx, find(name), results[name]); err != nil {
			return results, fmt.Errorf("%s: %w", name, err)
		}
	}
	return results, nil
}

// kept returns what need not be measured again: what the folder has, if the run goes on with it. Otherwise the folder
// loses what it has of the sections that are measured, all of them before the first one: a run that is interrupted leaves
// nothing old behind that the next one could take for its own.
func (b *bench) kept() (report.Results, error) {
	switch {
	case b.options.Keep:
		return report.Read(b.options.Dir)
	case b.options.Dir != "":
		return report.Results{}, report.Remove(b.options.Dir, b.options.Sections)
	default:
		return report.Results{}, nil
	}
}

// measure measures what a section has not yet: all of it, where what it has is another version's and not complete.
func (b *bench) measure(ctx context.Context, s *section, kept *report.Section) error {
	missing := func(c comparison) bool { return len(kept.Of(c.name).Pairs) < c.pairs }
	unprofiled := func(c comparison) bool {
		return c.profiled && b.options.Profile > 0 && len(kept.Of(c.name).Profiles) == 0
	}
	comparisons := s.comparisons(b.options)
	if !slices.ContainsFunc(comparisons, missing) && !slices.ContainsFunc(comparisons, unprofiled) {
		return nil
	}
	if here := machine(); kept.Machine.Version != here.Version { // pairs of two versions are no pairs
		*kept = report.Section{Name: s.name, Machine: here}
	}
	begun := time.Now()
	if err := b.enter(ctx, s.setting); err != nil {
		return err
	}
	for slices.ContainsFunc(comparisons, missing) {
		for _, c := range comparisons {
			for turn := 0; missing(c) && (turn == 0 || s.ordered); turn++ {
				if err := b.pair(ctx, c, kept); err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
			}
		}
	}
	for _, c := range comparisons {
		if unprofiled(c) {
			if err := b.takeProfiles(ctx, c, kept); err != nil {
				return fmt.Errorf("the profiles of %s: %w", c.name, err)
			}
		}
	}
	fmt.Fprintf(b.progress, "%s: done in %s\n", s.name, time.Since(begun).Round(time.Second))
	return nil
}

// enter has a world with the setting, and nothing of the section before running in it.
func (b *bench) enter(ctx context.Context, s setting) (err error) {
	if b.world == nil || b.world.setting != s {
		if err := b.world.shut(); err != nil {
			return err
		}
		fmt.Fprintln(b.progress, "Starting etcd, kube-apiserver and what else it needs …")
		if b.world, err = b.open(ctx, s, b.options, b.progress); err != nil {
			return err
		}
	}
	return b.world.restart(ctx)
}

// pair measures each side once, and keeps what came of it at once.
func (b *bench) pair(ctx context.Context, c comparison, kept *report.Section) error {
	sides := slices.Clone(c.sides)
	into := kept.Of(c.name)
	if len(into.Pairs)%2 == 1 {
		slices.Reverse(sides)
	}
	pair := report.Pair{First: sides[0].name, Sides: map[string]report.Sample{}}
	for _, s := range sides {
		sample, err := s.measure(ctx, b.world)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		sample.Faults = append(sample.Faults, b.world.effectFaults()...)
		pair.Sides[s.name] = sample
		fmt.Fprintf(b.progress, "  %s, %s, %d of %d, %s: %s\n", kept.Name, c.name, len(into.Pairs)+1, c.pairs, s.name, sample)
	}
	into.Pairs = append(into.Pairs, pair)
	return b.keep(kept)
}

// keep writes down what there is of a section.
func (b *bench) keep(kept *report.Section) error {
	if b.options.Dir == "" {
		return nil
	}
	return kept.Write(b.options.Dir)
}
