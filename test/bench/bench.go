package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

const (
	// warmUp is how many submissions each side sees before anything is measured.
	warmUp = 64
	// aloneCount is how many are made one at a time: where nothing waits for anything, nothing excuses a request.
	aloneCount = 20
	// gentleRate is how many submissions a second are made to see how long one takes on a machine with time to spare.
	gentleRate = 10
)

// Phase is one side, measured once.
type Phase struct {
	Submissions int                      `json:"submissions"`
	Took        time.Duration            `json:"tookNs"`
	PerSecond   float64                  `json:"perSecond"`
	CPU         map[string]time.Duration `json:"cpuNs,omitempty"` // by program

	// Of the operator's side only: from before a create to the Success that a watch shows;
	P50 time.Duration `json:"p50Ns,omitempty"`
	P95 time.Duration `json:"p95Ns,omitempty"`
	// statuses that were shown before the end, by phase and reason, each of which is a write;
	Between map[string]int `json:"between,omitempty"`
	// and how many of them belong to submissions that took too little time to need one.
	Hasty int `json:"hasty,omitempty"`
	// What the operator requested, whoever was measured.
	Writes int `json:"operatorWrites"`
	Gets   int `json:"operatorGets"`
	Lists  int `json:"operatorLists"`

	requests requests
}

// Pair is both sides, measured one after the other.
type Pair struct {
	OperatorFirst bool    `json:"operatorFirst"`
	Operator      Phase   `json:"operator"`
	Bare          Phase   `json:"bare"`
	Ratio         float64 `json:"ratio"` // operator's rate / bare client's rate
}

// Report is what came of a run.
type Report struct {
	InFlight    int           `json:"inFlight"`
	Pairs       []Pair        `json:"pairs"`
	MedianRatio float64       `json:"medianRatio"`
	Requests    []Count       `json:"requests"` // of the operator's side
	Objects     SizePair      `json:"objects"`
	Alone       *Phase        `json:"alone"` // one submission at a time
	Gentle      *Phase        `json:"gentle,omitempty"`
	Burst       *Phase        `json:"burst,omitempty"`
	Effects     int           `json:"effects"` // submissions with exactly one effect
	Expected    int           `json:"expected"`
	Took        time.Duration `json:"tookNs"`
	Faults      []string      `json:"faults"`
}

// Count is how often something was requested, in all measured pairs.
type Count struct {
	Request
	By            string  `json:"by"`
	Number        int     `json:"number"`
	PerSubmission float64 `json:"perSubmission"`
}

// SizePair compares the objects of both sides.
type SizePair struct {
	Operator Bytes `json:"operator"`
	Bare     Bytes `json:"bare"`
}

// Run measures. The error says that it could not be done; what is wrong with what was measured is in the report.
func Run(ctx context.Context, options Options, progress io.Writer) (report *Report, err error) {
	begun := time.Now()
	fmt.Fprintln(progress, "Starting etcd, kube-apiserver and the manager …")
	w, err := open(ctx)
	defer func() { err = errors.Join(err, w.shut()) }()
	if err != nil {
		return nil, err
	}
	report = &Report{InFlight: options.InFlight}
	if report.Objects, err = w.warm(ctx, options.InFlight); err != nil {
		return nil, err
	}
	for i := range options.Pairs {
		pair, err := w.pair(ctx, options, i%2 == 0)
		if err != nil {
			return nil, err
		}
		report.Pairs = append(report.Pairs, pair)
		fmt.Fprintf(progress, "Pair %d of %d: operator %.0f/s, bare client %.0f/s\n", i+1, options.Pairs, pair.Operator.PerSecond, pair.Bare.PerSecond)
	}
	if err := w.extras(ctx, options, report); err != nil {
		return nil, err
	}
	var doubled []string
	report.Effects, doubled = w.receiver.compare(w.expected)
	report.Expected = len(w.expected)
	report.conclude(doubled)
	report.Took = time.Since(begun)
	return report, nil
}

// warm takes the specimen and has both sides do what they will do. It returns the sizes of what each side stores.
func (w *world) warm(ctx context.Context, clients int) (sizes SizePair, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if w.specimen, err = w.observe(ctx); err != nil {
		return sizes, err
	}
	if sizes.Operator, err = sizeOf(w.specimen.submission, w.specimen.concluded); err != nil {
		return sizes, err
	}
	namespace, err := w.plane.Namespace(ctx)
	if err != nil {
		return sizes, err
	}
	one, record, err := w.writeBare(ctx, submission(namespace, 0))
	if err != nil {
		return sizes, fmt.Errorf("the bare client: %w", err)
	}
	if sizes.Bare, err = sizeOf(one, record); err != nil {
		return sizes, err
	}
	if _, err = w.through(ctx, load{n: warmUp, clients: clients}); err == nil {
		_, err = w.bare(ctx, warmUp, clients)
	}
	return sizes, err
}

// pair measures both sides.
func (w *world) pair(ctx context.Context, options Options, operatorFirst bool) (pair Pair, err error) {
	pair.OperatorFirst = operatorFirst
	sides := []func() error{
		func() (err error) {
			pair.Operator, err = w.through(ctx, load{n: options.Submissions, clients: options.InFlight})
			return err
		},
		func() (err error) {
			pair.Bare, err = w.bare(ctx, options.Submissions, options.InFlight)
			return err
		},
	}
	if !operatorFirst {
		slices.Reverse(sides)
	}
	for _, side := range sides {
		if err := side(); err != nil {
			return pair, err
		}
	}
	pair.Ratio = pair.Operator.PerSecond / pair.Bare.PerSecond
	return pair, nil
}

// extras measures what has no other side to compare with.
func (w *world) extras(ctx context.Context, options Options, report *Report) error {
	for _, extra := range []struct {
		load load
		into **Phase
	}{
		{load{n: aloneCount, clients: 1}, &report.Alone},
		{load{n: int(options.Gentle.Seconds() * gentleRate), every: time.Second / gentleRate}, &report.Gentle},
		{load{n: options.Burst, clients: options.InFlight, burst: true}, &report.Burst},
	} {
		if extra.load.n == 0 {
			continue
		}
		phase, err := w.through(ctx, extra.load)
		if err != nil {
			return err
		}
		*extra.into = &phase
	}
	return nil
}

// measure does something for n submissions and returns what that took.
func (w *world) measure(ctx context.Context, n int, do func(context.Context) error) (Phase, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	before, err := scrape(ctx, w.metrics)
	if err != nil {
		return Phase{}, err
	}
	used, begun := cpu(), time.Now()
	if err := do(ctx); err != nil {
		return Phase{}, err
	}
	phase := Phase{Submissions: n, Took: time.Since(begun), CPU: cpu()}
	phase.PerSecond = float64(n) / phase.Took.Seconds()
	for program := range phase.CPU {
		phase.CPU[program] -= used[program]
	}
	after, err := scrape(ctx, w.metrics)
	phase.requests = after.since(before)
	phase.Writes, phase.Gets, phase.Lists = phase.requests.sum(isOperatorWrite), phase.requests.sum(isOperatorGet), phase.requests.sum(isOperatorList)
	return phase, err
}
