package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/bench/report"
	"github.com/taskonce/taskonce/test/harness"
)

// memory is that of an operator that is idle, of one after work, and of one with work that waits. The three run side by
// side, each in namespaces of its own, so that they are left alone together, and all are begun anew in each round.
func memory() section {
	return section{name: report.SectionMemory, setting: setting{idle: true}, comparisons: func(o Options) []comparison {
		state := func(name string, n int) comparison {
			return comparison{name: name, pairs: o.Rounds, sides: []side{{report.Operator, func(ctx context.Context, w *world) (report.Sample, error) {
				if w.crew[name] == nil {
					if err := w.muster(ctx); err != nil {
						return report.Sample{}, err
					}
				}
				defer delete(w.crew, name)
				return w.weighed(ctx, w.crew[name], n)
			}}}}
		}
		return []comparison{state(report.Idle, 0), state(report.Worked, o.Work), state(report.Waiting, o.Waiting)}
	}}
}

// operator is one of several that run at once.
type operator struct {
	process *harness.Process
	pprof   string
	work    string // the namespace of its work
}

// muster starts an operator for each state, has each get there, and leaves them alone.
func (w *world) muster(ctx context.Context) (err error) {
	w.killManagers()
	w.crew = map[string]*operator{}
	for state, reach := range map[string]func(*operator) error{
		report.Idle: func(*operator) error { return nil },
		report.Worked: func(o *operator) error {
			return w.carriedOut(ctx, o.work, load{n: w.options.Work, clients: 32})
		},
		report.Waiting: func(o *operator) error { return w.wait(ctx, o.work, w.options.Waiting) },
	} {
		if w.crew[state], err = w.hire(ctx); err != nil {
			return err
		}
		if err := reach(w.crew[state]); err != nil {
			return fmt.Errorf("%s: %w", state, err)
		}
	}
	return w.leaveAlone(ctx)
}

// hire starts an operator for two namespaces, and has it carry one submission out in one of them.
func (w *world) hire(ctx context.Context) (*operator, error) {
	first, err := w.plane.Namespace(ctx)
	if err != nil {
		return nil, err
	}
	second, err := w.plane.Namespace(ctx)
	if err != nil {
		return nil, err
	}
	process, err := w.startManager(ctx, "--namespaces="+first+","+second)
	if err != nil {
		return nil, err
	}
	return &operator{process: process, pprof: w.pprof, work: second}, w.carriedOut(ctx, first, load{n: 1, clients: 1})
}

// carriedOut has submissions succeed in a namespace.
func (w *world) carriedOut(ctx context.Context, namespace string, l load) error {
	f, err := w.prepareIn(ctx, namespace, l.kind)
	if err != nil {
		return err
	}
	defer f.close()
	return w.submitAll(ctx, f, l)
}

// wait submits what is not to begin before an hour is over, and returns when the operator has said so of all.
func (w *world) wait(ctx context.Context, namespace string, n int) error {
	f, err := w.prepareIn(ctx, namespace, kind{})
	if err != nil {
		return err
	}
	defer f.close()
	later := metav1.NewTime(time.Now().Add(time.Hour))
	l := load{n: n, clients: 32, burst: true, of: func(namespace string, n int) *v1alpha1.TaskSubmission {
		s := submission(namespace, n)
		s.Spec.NotBefore = &later
		return s
	}}
	if err := w.submit(ctx, f, l); err != nil {
		return err
	}
	return f.seen(ctx, n)
}

// leaveAlone waits. The Go runtime collects garbage every two minutes at least, and gives back then what it does not need.
func (w *world) leaveAlone(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(w.options.Rest) * time.Second):
		return nil
	}
}

// weighed returns what an operator has resident, with n submissions.
func (w *world) weighed(ctx context.Context, o *operator, n int) (sample report.Sample, err error) {
	resident, err := residentMiB(o.process.PID())
	if err != nil {
		return sample, err
	}
	live, err := w.liveMiB(ctx, o)
	sample.Figures = map[string]float64{report.MemoryMiB: resident, report.LiveMiB: live, report.Objects: float64(n)}
	return sample, err
}

var heapAlloc = regexp.MustCompile(`(?m)^# HeapAlloc = (\d+)$`)

// liveMiB is what an operator's heap holds after a garbage collection.
func (w *world) liveMiB(ctx context.Context, o *operator) (float64, error) {
	text, err := w.managerProfile(ctx, o.pprof+"heap?gc=1&debug=1")
	if err != nil {
		return 0, err
	}
	found := heapAlloc.FindSubmatch(text)
	if found == nil {
		return 0, errors.New("the manager's profile of its heap says nothing of what is allocated")
	}
	bytes, err := strconv.ParseFloat(string(found[1]), 64)
	return bytes / (1 << 20), err
}

// apiServerMiB is what the API server has resident.
func (w *world) apiServerMiB() (float64, error) {
	text, err := os.ReadFile(filepath.Join(w.plane.Dir, "run", "kube-apiserver.pid"))
	if err != nil {
		return 0, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, err
	}
	return residentMiB(pid)
}
