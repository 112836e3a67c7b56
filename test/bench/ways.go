package main

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/bench/report"
)

const businessKey = "${params.taskId}/${params.studentId}/${params.submitVersion}"

// ways counts the requests of each way through the lifecycle. How often they are made does not depend on the machine, so
// each is measured once.
func ways() section {
	return section{name: report.SectionWays, comparisons: func(o Options) []comparison {
		way := func(name string, measure func(context.Context, *world, int) (report.Sample, error)) comparison {
			return comparison{name: name, pairs: 1, sides: []side{{report.Operator, func(ctx context.Context, w *world) (report.Sample, error) {
				return measure(ctx, w, o.Each)
			}}}}
		}
		return []comparison{
			way(report.Straight, func(ctx context.Context, w *world, n int) (report.Sample, error) {
				return w.straight(ctx, load{n: n, clients: 1})
			}),
			way(report.Claiming, func(ctx context.Context, w *world, n int) (report.Sample, error) {
				return w.through(ctx, load{n: n, clients: 8, kind: kind{spec: map[string]any{"businessKey": businessKey}}})
			}),
			way(report.Again, duplicates),
			way(report.Retried, func(ctx context.Context, w *world, n int) (report.Sample, error) {
				return w.through(ctx, load{n: n, clients: 32, kind: kind{path: pathBusy}})
			}),
			way(report.Recreated, recreations),
			way(report.Life, lives),
		}
	}}
}

// finished returns a follower of a namespace in which the submissions of a load have succeeded.
func (w *world) finished(ctx context.Context, l load) (*follower, error) {
	f, err := w.prepare(ctx, l.kind, l.labels)
	if err != nil {
		return nil, err
	}
	defer f.close()
	return f, w.submitAll(ctx, f, l)
}

// duplicates asks again for what has succeeded.
func duplicates(ctx context.Context, w *world, n int) (report.Sample, error) {
	f, err := w.finished(ctx, load{n: n, clients: 8})
	if err != nil {
		return report.Sample{}, err
	}
	return w.measure(ctx, n, func(ctx context.Context) error {
		return inFlight(ctx, 8, n, func(ctx context.Context, i int) error {
			return refused(w.api.Create(ctx, submission(f.namespace, i)))
		})
	})
}

// refused expects that an object was there before.
func refused(err error) error {
	if err == nil {
		return errors.New("an object was created that was there before")
	}
	return client.IgnoreAlreadyExists(err)
}

// recreations deletes what has succeeded and applies it again.
func recreations(ctx context.Context, w *world, n int) (report.Sample, error) {
	first, err := w.finished(ctx, load{n: n, clients: 8})
	if err != nil {
		return report.Sample{}, err
	}
	for i := range n {
		if err := w.api.Delete(ctx, submission(first.namespace, i)); err != nil {
			return report.Sample{}, err
		}
	}
	f, err := follow(ctx, w.api, first.namespace)
	if err != nil {
		return report.Sample{}, err
	}
	defer f.close()
	return w.measure(ctx, n, func(ctx context.Context) error {
		l := load{n: n, clients: 8}
		if err := w.submit(ctx, f, l); err != nil {
			return err
		}
		for i := range n {
			if _, err := f.success(ctx, l.submission(f.namespace, i).Name); err != nil {
				return err
			}
		}
		return nil
	})
}

// lives has submissions succeed, and waits until they and their records have expired.
func lives(ctx context.Context, w *world, n int) (report.Sample, error) {
	w.killManagers()
	if _, err := w.startManager(ctx, "--sweep-interval=1s"); err != nil {
		return report.Sample{}, err
	}
	k := kind{spec: map[string]any{"businessKey": businessKey, "retention": map[string]any{"submissionTTL": "1s", "failedTTL": "1s", "recordTTL": "1s"}}}
	f, err := w.prepare(ctx, k, nil)
	if err != nil {
		return report.Sample{}, err
	}
	defer f.close()
	records, err := w.api.Watch(ctx, &v1alpha1.TaskRecordList{}, client.InNamespace(f.namespace))
	if err != nil {
		return report.Sample{}, err
	}
	defer records.Stop()
	sample, err := w.measure(ctx, n, func(ctx context.Context) error {
		if err := w.submitAll(ctx, f, load{n: n, clients: 8, kind: k}); err != nil {
			return err
		}
		return deleted(ctx, records, 2*n)
	})
	return sample, err
}

// deleted waits until so many objects of a watch are gone.
func deleted(ctx context.Context, watching watch.Interface, n int) error {
	for n > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, ok := <-watching.ResultChan():
			if !ok {
				return errors.New("the watch ended")
			}
			if event.Type == watch.Deleted {
				n--
			}
		}
	}
	return nil
}
