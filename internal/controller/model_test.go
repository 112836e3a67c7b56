package controller

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/go-logr/logr"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

func init() { logf.SetLogger(logr.Discard()) }

// deep reports whether the deeper bound is asked for, as make prove does.
func deep() bool { return os.Getenv("TASKONCE_MODEL") == "deep" }

// mostStates bounds an exploration: what reaches it was not explored whole.
const mostStates = 5_000_000

func TestModel(t *testing.T) {
	proved := quick
	if deep() {
		proved = slices.Concat(deeper, quick)
	}
	summary := newSummary(t, "scenario\tstates\ttime\tviolations")
	for _, p := range proved {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			begun := time.Now()
			found := explore(p.ready(), mostStates)
			violations := 0
			if found.broken != nil {
				violations++
				t.Error(found.broken.counterexample())
			} else if found.states != p.states {
				t.Errorf("%d states were explored, and %d are expected: if the lifecycle was changed on purpose, look at why the space did, and then write the new number here", found.states, p.states)
			}
			summary.add(found.states, "%s\t%d\t%v\t%d", p.name, found.states, time.Since(begun).Round(100*time.Millisecond), violations)
		})
	}
}

// summary is a table for people, printed when the last row is there.
type summary struct {
	mu     sync.Mutex
	rows   bytes.Buffer
	states int
}

func newSummary(t *testing.T, head string) *summary {
	s := &summary{}
	fmt.Fprintln(&s.rows, head)
	begun := time.Now()
	t.Cleanup(func() {
		var table bytes.Buffer
		writer := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
		_, _ = writer.Write(s.rows.Bytes())
		_ = writer.Flush()
		t.Logf("%d states in %v\n%s", s.states, time.Since(begun).Round(time.Second), table.String())
	})
	return s
}

func (s *summary) add(states int, row string, cells ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states += states
	fmt.Fprintf(&s.rows, row+"\n", cells...)
}
