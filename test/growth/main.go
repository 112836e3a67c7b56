package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	n := flag.Int("n", 100_000, "How many finished submissions, each with its record.")
	due := flag.Int("due", 1_000, "How many of them are to be removed.")
	flag.Parse()
	ctrl.SetLogger(logr.Discard()) // envtest's own words are of no use here
	figures, err := measure(context.Background(), *n, *due)
	if err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
	figures.print(os.Stdout)
}

// figures are what was measured, first with nothing and then with everything.
type figures struct {
	n, due  int
	at      [2]figure
	left    int           // submissions, in the end
	removed time.Duration // from the operator's start to the end of the last that is due
}

// figure is what one operator was like.
type figure struct {
	start  time.Duration // until it is ready
	first  time.Duration // until a submission that is created then has succeeded
	memory int64         // resident, in KiB, after that
	sweep  time.Duration // the two requests of a sweep that finds nothing
}

func (f *figures) print(to io.Writer) {
	fmt.Fprintf(to, "| | empty | %d finished |\n| --- | --- | --- |\n", f.n)
	row := func(name string, of func(figure) string) {
		fmt.Fprintf(to, "| %s | %s | %s |\n", name, of(f.at[0]), of(f.at[1]))
	}
	row("start, until it is ready", func(f figure) string { return f.start.Round(10 * time.Millisecond).String() })
	row("a submission, from create to Success", func(f figure) string { return f.first.Round(time.Millisecond).String() })
	row("resident memory of the operator", func(f figure) string { return fmt.Sprintf("%d MiB", f.memory>>10) })
	row("the requests of a sweep with nothing due", func(f figure) string { return f.sweep.Round(time.Millisecond).String() })
	fmt.Fprintf(to, "\n%d that were due were gone %s after the operator's start.\n", f.due, f.removed.Round(100*time.Millisecond))
}
