package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/taskonce/taskonce/test/bench/report"
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
	ctrl.SetLogger(logr.Discard()) // envtest's own words are of no use here
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	results, err := Run(ctx, options, os.Stderr)
	stop()
	results.Print(os.Stdout)
	if err == nil && len(results.Faults()) > 0 {
		err = errors.New("what was measured did not go as it should")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// Options says what is measured, and how much of it.
type Options struct {
	Sections    []string
	Dir         string // where samples are kept, one file for each section; empty: nowhere
	Keep        bool   // only what is missing there is measured
	Profiles    string // a folder for profiles as they were taken; empty: they are only added up
	Pairs       int    // how often sides are measured, in turns
	Submissions int    // in each measurement
	Gentle      int    // how many are made at a gentle rate
	Each        int    // of each way
	Waiting     int    // how many wait when memory is measured
	Work        int    // how many are carried out before memory is measured
	Long        int    // how many are carried out in the long run before memory is measured
	History     int    // how many have finished when an operator is started
	Orphans     int    // how many were under way when an operator was killed
	Timeout     int    // of their attempts, in seconds
	Profile     int    // seconds of a profile; 0: none are taken
	Rounds      int    // how often what takes a minute or more is measured
	Rest        int    // seconds that an operator is left alone before its memory is measured
}

// quick, full and small are what is measured unless flags say otherwise.
var (
	quick = Options{
		Sections: []string{report.SectionRate, report.SectionWays}, Pairs: 2, Submissions: 200, Each: 20,
	}
	full = Options{
		Sections: usual(), Pairs: 5, Rounds: 3, Profile: 3, Submissions: 1000, Gentle: 100, Each: 100,
		Waiting: 10_000, Work: 5_000, Long: 100_000, History: 100_000, Orphans: 1000, Timeout: 45, Rest: 130,
	}
)

// numbers are the flags that are numbers.
func (o *Options) numbers() map[string]*int {
	return map[string]*int{
		"pairs": &o.Pairs, "submissions": &o.Submissions, "gentle": &o.Gentle, "each": &o.Each, "waiting": &o.Waiting,
		"work": &o.Work, "long": &o.Long, "history": &o.History, "orphans": &o.Orphans, "timeout": &o.Timeout, "rest": &o.Rest, "rounds": &o.Rounds, "profile": &o.Profile,
	}
}

var usages = map[string]string{
	"pairs":       "how often both sides are measured, in turns",
	"submissions": "how many in each measurement of a rate; for a single client a tenth",
	"gentle":      "how many are made, 10 a second, to see how long one takes",
	"each":        "how many of each way through the lifecycle",
	"waiting":     "how many wait when memory is measured",
	"work":        "how many are carried out before memory is measured",
	"long":        "how many are carried out in section long before memory is measured",
	"history":     "how many have finished when an operator is started",
	"orphans":     "how many attempts were under way when an operator was killed",
	"timeout":     "of those attempts, in seconds",
	"rounds":      "how often memory, orphans, removals and two active operators are measured",
	"profile":     "how many seconds of what is profiled are, once more after all pairs; 0: no profile is taken",
	"rest":        "how many seconds an operator is left alone before its memory is measured",
}

func parse(arguments []string, output io.Writer) (Options, error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(output)
	given := full
	isQuick := flags.Bool("quick", false, "measure rate and requests only, and less of both")
	only := flags.String("only", "", "the sections, separated by commas, of "+strings.Join(names(), ", ")+"; left out, all but long")
	flags.StringVar(&given.Dir, "dir", "", "keep the samples in this folder, one file for each section")
	flags.BoolVar(&given.Keep, "keep", false, "measure only what the folder has not, so that a run can be interrupted")
	flags.StringVar(&given.Profiles, "profiles", "", "keep each profile of the API server and the manager in this folder, for go tool pprof")
	for name, number := range given.numbers() {
		flags.IntVar(number, name, *number, usages[name])
	}
	if err := flags.Parse(arguments); err != nil {
		return Options{}, err
	}
	options := given
	if *isQuick {
		options = quick
		options.Dir, options.Keep, options.Profiles = given.Dir, given.Keep, given.Profiles
		flags.Visit(func(f *flag.Flag) {
			if number := given.numbers()[f.Name]; number != nil {
				*options.numbers()[f.Name] = *number
			}
		})
	}
	if *only != "" {
		options.Sections = strings.Split(*only, ",")
	}
	if options.Profiles != "" {
		if err := os.MkdirAll(options.Profiles, 0o750); err != nil {
			return Options{}, err
		}
	}
	if flags.NArg() > 0 {
		return Options{}, fmt.Errorf("there are flags only, and no argument %q", flags.Arg(0))
	}
	return options, options.check()
}

func (o *Options) check() error {
	for _, name := range o.Sections {
		if find(name) == nil {
			return fmt.Errorf("there is no section %q; there are %s", name, strings.Join(names(), ", "))
		}
	}
	if o.Pairs < 1 || o.Submissions < 10 || o.Keep && o.Dir == "" {
		return errors.New("there must be at least 1 pair and 10 submissions, and --keep needs --dir")
	}
	return nil
}
