package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	options, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	report, err := Run(ctx, options, os.Stderr)
	stop()
	if err == nil {
		report.print(os.Stdout)
		err = report.save(options.JSON)
	}
	if err == nil && len(report.Faults) > 0 {
		err = errors.New("the straight path does not cost what it should")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// Options says what is measured.
type Options struct {
	Pairs       int           // how often both sides are measured, in turns
	Submissions int           // in each measurement
	InFlight    int           // how many clients there are, each with one submission at a time
	Gentle      time.Duration // how long latency is measured at a gentle rate; 0: not at all
	Burst       int           // how many submissions are created without waiting for any end; 0: none
	JSON        string        // a file for the report; empty: none
}

// quick and full are what is measured unless flags say otherwise.
var (
	quick = Options{Pairs: 3, Submissions: 200, InFlight: 32}
	full  = Options{Pairs: 5, Submissions: 1000, InFlight: 32, Gentle: 10 * time.Second, Burst: 1000}
)

func parse(arguments []string, output io.Writer) (Options, error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(output)
	isQuick := flags.Bool("quick", false, "measure less: three short pairs, no latency, no burst")
	given := full
	flags.IntVar(&given.Pairs, "pairs", full.Pairs, "how often operator and bare client are measured, in turns")
	flags.IntVar(&given.Submissions, "submissions", full.Submissions, "how many in each measurement")
	flags.IntVar(&given.InFlight, "in-flight", full.InFlight, "how many clients, each with one submission at a time")
	flags.DurationVar(&given.Gentle, "gentle", full.Gentle, "how long latency is measured at 10 submissions a second; 0: not at all")
	flags.IntVar(&given.Burst, "burst", full.Burst, "how many submissions are created in a burst, without waiting for any end; 0: none")
	flags.StringVar(&given.JSON, "json", "", "write the report to this file, too")
	if err := flags.Parse(arguments); err != nil {
		return Options{}, err
	}
	options := given
	if *isQuick {
		options = quick
		flags.Visit(func(f *flag.Flag) { options.take(f.Name, given) })
	}
	if flags.NArg() > 0 || options.Pairs < 1 || options.Submissions < 1 || options.InFlight < 1 {
		return Options{}, errors.New("there are flags only, and pairs, submissions and clients must be at least 1")
	}
	return options, nil
}

// take takes one field over.
func (o *Options) take(name string, from Options) {
	switch name {
	case "pairs":
		o.Pairs = from.Pairs
	case "submissions":
		o.Submissions = from.Submissions
	case "in-flight":
		o.InFlight = from.InFlight
	case "gentle":
		o.Gentle = from.Gentle
	case "burst":
		o.Burst = from.Burst
	case "json":
		o.JSON = from.JSON
	}
}

func (r *Report) save(path string) error {
	if path == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}
