package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/taskonce/taskonce/test/bench/report"
)

// takeProfiles does each side of a comparison once more, and keeps where the processor time went meanwhile. What is
// profiled is slower, so that it is no pair.
func (b *bench) takeProfiles(ctx context.Context, c comparison, kept *report.Section) error {
	of := map[string]report.Profile{}
	for _, s := range c.sides {
		taken := map[string][]byte{}
		b.world.taken = taken
		_, err := s.measure(ctx, b.world)
		b.world.taken = nil
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		of[s.name] = report.Profile{}
		for program, text := range taken {
			if of[s.name][program], err = grouped(text); err != nil {
				return fmt.Errorf("%s, %s: %w", s.name, program, err)
			}
			if err := b.keepProfile([]string{kept.Name, c.name, s.name, program}, text); err != nil {
				return err
			}
		}
	}
	kept.Of(c.name).Profiles = of
	fmt.Fprintf(b.progress, "  %s, %s: profiles taken\n", kept.Name, c.name)
	return b.keep(kept)
}

// keepProfile keeps a profile as it was taken, under a name of its own.
func (b *bench) keepProfile(name []string, text []byte) error {
	if b.options.Profiles == "" {
		return nil
	}
	file := strings.NewReplacer(" ", "-", ",", "").Replace(strings.Join(name, "."))
	return os.WriteFile(filepath.Join(b.options.Profiles, file+".pprof"), text, 0o600)
}

// profile begins to take profiles of the API server and the manager, if they are wanted. What it returns waits for them.
func (w *world) profile(ctx context.Context) func() error {
	if w.taken == nil {
		return func() error { return nil }
	}
	type answer struct {
		program string
		text    []byte
		err     error
	}
	seconds := strconv.Itoa(w.options.Profile)
	takes := map[string]func() ([]byte, error){
		report.APIServer: func() ([]byte, error) {
			return w.clients.RESTClient().Get().AbsPath("/debug/pprof/profile").Param("seconds", seconds).DoRaw(ctx)
		},
		report.Manager: func() ([]byte, error) { return w.managerProfile(ctx, w.pprof+"profile?seconds="+seconds) },
	}
	answers := make(chan answer, len(takes))
	for program, take := range takes {
		go func() {
			text, err := take()
			answers <- answer{program, text, err}
		}()
	}
	taken := w.taken
	return func() (err error) {
		for range takes {
			got := <-answers
			taken[got.program] = got.text
			err = errors.Join(err, got.err)
		}
		return err
	}
}

// grouped adds a profile of processor time up, by what its functions are for.
func grouped(text []byte) (map[string]float64, error) {
	taken, err := profile.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	const time = 1 // the second value of each sample, after how often it was seen
	sum, groups := 0.0, map[string]float64{}
	for _, s := range taken.Sample {
		var stack []string
		for _, location := range s.Location {
			for _, line := range location.Line {
				stack = append(stack, line.Function.Name)
			}
		}
		groups[report.GroupOf(stack)] += float64(s.Value[time])
		sum += float64(s.Value[time])
	}
	for group := range groups {
		groups[group] /= sum
	}
	return groups, nil
}

// managerProfile asks a manager for one of its profiles.
func (w *world) managerProfile(ctx context.Context, url string) (text []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the manager's profile: %s", response.Status)
	}
	return io.ReadAll(response.Body)
}
