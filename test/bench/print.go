package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// print prints the report for a person.
func (r *Report) print(out io.Writer) {
	first := r.Pairs[0]
	fmt.Fprintf(out, "\nThe straight path: %d submissions in each measurement, %d in flight\n\n", first.Operator.Submissions, r.InFlight)
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "PAIR\tFIRST\tOPERATOR\tBARE CLIENT\tRATIO")
	for i, pair := range r.Pairs {
		order := "bare client"
		if pair.OperatorFirst {
			order = "operator"
		}
		fmt.Fprintf(table, "%d\t%s\t%.1f/s\t%.1f/s\t%.2f\n", i+1, order, pair.Operator.PerSecond, pair.Bare.PerSecond, pair.Ratio)
	}
	fmt.Fprintf(table, "median\t\t\t\t%.2f\n", r.MedianRatio)
	_ = table.Flush()

	fmt.Fprintln(out, "\nRequests for each submission, as the API server counted them")
	fmt.Fprintln(out)
	fmt.Fprintln(table, "VERB\tRESOURCE\tBY\tNUMBER\tFOR EACH")
	for _, count := range r.Requests {
		verb := count.Verb
		if count.Conflict {
			verb += ", conflict"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%.2f\n", verb, count.Resource, count.By, count.Number, count.PerSubmission)
	}
	_ = table.Flush()
	r.printCPU(out)
	fmt.Fprintf(out, "\nObjects: submission %d bytes (the bare client's %d), record %d (%d)\n",
		r.Objects.Operator.Submission, r.Objects.Bare.Submission, r.Objects.Operator.Record, r.Objects.Bare.Record)
	r.printExtras(out)
	fmt.Fprintf(out, "Effects: %d submissions, %d of them applied exactly once\n", r.Expected, r.Effects)
	for _, fault := range r.Faults {
		fmt.Fprintln(out, "WRONG:", fault)
	}
	if len(r.Faults) == 0 {
		fmt.Fprintf(out, "All as it should be, in %s.\n", r.Took.Round(time.Second))
	}
}

// printCPU prints processor time, which says more than rates where others use the machine too.
func (r *Report) printCPU(out io.Writer) {
	operator, bare := map[string]time.Duration{}, map[string]time.Duration{}
	submissions := 0
	for _, pair := range r.Pairs {
		submissions += pair.Operator.Submissions
		for program, used := range pair.Operator.CPU {
			operator[program] += used
			bare[program] += pair.Bare.CPU[program]
		}
	}
	if len(operator) == 0 {
		return
	}
	fmt.Fprintln(out, "\nProcessor time for each submission")
	fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "PROGRAM\tOPERATOR\tBARE CLIENT")
	each := func(used time.Duration) float64 {
		return float64(used.Microseconds()) / 1000 / float64(submissions)
	}
	var sum, bareSum time.Duration
	for _, program := range sortedKeys(operator) {
		fmt.Fprintf(table, "%s\t%.2f ms\t%.2f ms\n", program, each(operator[program]), each(bare[program]))
		sum, bareSum = sum+operator[program], bareSum+bare[program]
	}
	fmt.Fprintf(table, "all\t%.2f ms\t%.2f ms\n", each(sum), each(bareSum))
	fmt.Fprintf(table, "bare client / operator\t\t%.2f\n", float64(bareSum)/float64(sum))
	_ = table.Flush()
}

func (r *Report) printExtras(out io.Writer) {
	fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "SUBMISSIONS\tRATE\tCREATE TO SUCCESS: P50\tP95\tWRITES FOR EACH\tSTATUSES BEFORE THE END")
	line := func(what string, phase *Phase) {
		if phase == nil {
			return
		}
		fmt.Fprintf(table, "%s\t%.1f/s\t%s\t%s\t%.2f\t%s\n", what, phase.PerSecond, phase.P50.Round(time.Millisecond), phase.P95.Round(time.Millisecond),
			float64(phase.Writes)/float64(phase.Submissions), listed(phase.Between))
	}
	for i := range r.Pairs {
		line(fmt.Sprintf("pair %d", i+1), &r.Pairs[i].Operator)
	}
	line("one at a time", r.Alone)
	line(fmt.Sprintf("%d a second", gentleRate), r.Gentle)
	line("all at once", r.Burst)
	_ = table.Flush()
	fmt.Fprintln(out)
}

func listed(between map[string]int) string {
	if len(between) == 0 {
		return "none"
	}
	var parts []string
	for _, standing := range sortedKeys(between) {
		parts = append(parts, fmt.Sprintf("%d %s", between[standing], standing))
	}
	return strings.Join(parts, ", ")
}
