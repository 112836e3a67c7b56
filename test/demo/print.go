package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/taskonce/taskonce/test/receiver/ledger"
)

const rule = "────────────────────────────────────────────────────────────────────────────────"

func title(out io.Writer, format string, arguments ...any) {
	fmt.Fprintf(out, "\n%s\n%s\n", fmt.Sprintf(format, arguments...), rule)
}

// printStep prints a step that has been played.
func printStep(out io.Writer, number int, s step, on *stage, err error) {
	fmt.Fprintf(out, "\n%2d. %s\n", number, s.name)
	for line := range strings.Lines(s.story) {
		fmt.Fprintf(out, "    %s", line)
	}
	fmt.Fprintln(out)
	for _, line := range on.said {
		fmt.Fprintf(out, "    → %s\n", line)
	}
	if err != nil {
		fmt.Fprintf(out, "    ✗ it could not be played to its end: %v\n", err)
	}
}

// printSubmissions prints what "kubectl get" says.
func (w *world) printSubmissions(ctx context.Context, out io.Writer) error {
	title(out, "$ kubectl get tasksubmissions")
	table, _, err := w.plane.Kubectl(ctx, "get", "tasksubmissions", "--namespace="+w.namespace)
	if err == nil {
		fmt.Fprint(out, table)
	}
	return err
}

// printLedger prints the receiver's log by idempotency key and by business key.
func (e *evidence) printLedger(out io.Writer) {
	title(out, "The receiver's ledger")
	byKey := e.sum(func(entry ledger.Entry) string { return entry.Key })
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "IDEMPOTENCY KEY\tCALLS\tCHECKS\tEFFECTS")
	for _, line := range byKey {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\n", line.key, line.count[ledger.Call], line.count[ledger.Check], line.count[ledger.Effect])
	}
	_ = table.Flush()
	fmt.Fprintln(out)
	fmt.Fprintln(table, "BUSINESS KEY\tCALLS\tEFFECTS")
	for _, line := range e.sum(func(entry ledger.Entry) string { return entry.BusinessKey }) {
		fmt.Fprintf(table, "%s\t%d\t%d\n", line.key, line.count[ledger.Call], line.count[ledger.Effect])
	}
	_ = table.Flush()
}

// sum is one line of the ledger.
type sum struct {
	key   string
	count map[ledger.Kind]int
}

func (e *evidence) sum(by func(ledger.Entry) string) []sum {
	var sums []sum
	for _, entry := range e.entries {
		key := by(entry)
		if key == "" {
			continue
		}
		at := slices.IndexFunc(sums, func(s sum) bool { return s.key == key })
		if at < 0 {
			at = len(sums)
			sums = append(sums, sum{key: key, count: map[ledger.Kind]int{}})
		}
		sums[at].count[entry.Kind]++
	}
	return sums
}

// print prints the verdict: a line for each thing that was looked at.
func (v Verdict) print(out io.Writer) {
	title(out, "Verdict, from the receiver's log and the API's objects")
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "STEP\tEXPECTED\tGOT")
	for _, j := range v {
		name := j.Step
		for _, f := range j.Findings {
			got := "ok"
			if !f.OK() {
				got = "DIFFERS: " + f.Got
			}
			fmt.Fprintf(table, "%s\t%s\t%s\n", name, f.Want, got)
			name = ""
		}
	}
	_ = table.Flush()
}

// conclusion is the last line.
func (v Verdict) conclusion(took time.Duration) string {
	red := v.Red()
	if len(red) == 0 {
		return fmt.Sprintf("All %d steps came out as said, in %s.", len(v), took.Round(time.Second))
	}
	return fmt.Sprintf("%d of %d steps did not come out as said: %s.", len(red), len(v), strings.Join(red, ", "))
}
