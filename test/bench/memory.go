package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/bench/report"
)

// memory is that of one operator: idle, after work, and with work that waits.
func memory() section {
	return section{name: report.SectionMemory, setting: setting{idle: true}, comparisons: func(o Options) []comparison {
		state := func(name string, n int, reach func(context.Context, *world) error) comparison {
			return comparison{name: name, pairs: 1, sides: []side{{report.Operator, func(ctx context.Context, w *world) (report.Sample, error) {
				if err := reach(ctx, w); err != nil {
					return report.Sample{}, err
				}
				return w.weighed(ctx, n)
			}}}}
		}
		return []comparison{
			state(report.Idle, 0, func(ctx context.Context, w *world) error { return w.running(ctx) }),
			state(report.Worked, o.Work, func(ctx context.Context, w *world) error {
				if err := w.running(ctx); err != nil {
					return err
				}
				_, err := w.through(ctx, load{n: o.Work, clients: 32})
				return err
			}),
			state(report.Waiting, o.Waiting, func(ctx context.Context, w *world) error { return w.wait(ctx, o.Waiting) }),
		}
	}}
}

// running starts an operator where none runs, and has it carry one submission out.
func (w *world) running(ctx context.Context) error {
	if len(w.managers) > 0 {
		return nil
	}
	if _, err := w.startManager(ctx); err != nil {
		return err
	}
	_, err := w.through(ctx, load{n: 1, clients: 1})
	return err
}

// wait submits what is not to begin before an hour is over, and returns when the operator has said so of all.
func (w *world) wait(ctx context.Context, n int) error {
	if err := w.running(ctx); err != nil {
		return err
	}
	f, err := w.prepare(ctx, kind{}, nil)
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

// weighed returns what the operator has resident when it has been left alone, with n submissions. The Go runtime collects
// garbage every two minutes at least, and gives back then what it does not need.
func (w *world) weighed(ctx context.Context, n int) (sample report.Sample, err error) {
	select {
	case <-ctx.Done():
		return sample, ctx.Err()
	case <-time.After(time.Duration(w.options.Rest) * time.Second):
	}
	resident, err := residentMiB(w.managers[0].PID())
	if err != nil {
		return sample, err
	}
	live, err := w.liveMiB(ctx)
	sample.Figures = map[string]float64{report.MemoryMiB: resident, report.LiveMiB: live, report.Objects: float64(n)}
	return sample, err
}

var heapAlloc = regexp.MustCompile(`(?m)^# HeapAlloc = (\d+)$`)

// liveMiB is what the operator's heap holds after a garbage collection.
func (w *world) liveMiB(ctx context.Context) (float64, error) {
	text, err := w.managerProfile(ctx, "heap?gc=1&debug=1")
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
