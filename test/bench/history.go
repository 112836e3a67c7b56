package main

import (
	"context"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/record"
	"github.com/taskonce/taskonce/test/bench/report"
)

// history compares operators that are started on nothing with such as are started on what has finished, and measures how
// what is due goes and how what a killed operator left is recovered.
func history() section {
	return section{name: report.SectionHistory, ordered: true, setting: setting{idle: true}, comparisons: func(o Options) []comparison {
		of := func(name string, pairs int, measure func(context.Context, *world) (report.Sample, error)) comparison {
			return comparison{name: name, pairs: pairs, sides: []side{{report.Operator, measure}}}
		}
		return []comparison{
			of(report.Empty, o.Pairs, func(ctx context.Context, w *world) (report.Sample, error) { return w.started(ctx, 0) }),
			of(report.Finished, o.Pairs, func(ctx context.Context, w *world) (report.Sample, error) {
				if err := w.seed(ctx); err != nil {
					return report.Sample{}, err
				}
				return w.started(ctx, o.History)
			}),
			of(report.Due, o.Rounds, func(ctx context.Context, w *world) (report.Sample, error) { return w.removed(ctx, o.Orphans) }),
			of(report.Lost, o.Rounds, func(ctx context.Context, w *world) (report.Sample, error) {
				if err := w.seed(ctx); err != nil {
					return report.Sample{}, err
				}
				return w.recovered(ctx, o.Orphans)
			}),
		}
	}}
}

// seed puts the history into etcd, once.
func (w *world) seed(ctx context.Context) error {
	if w.seeded > 0 {
		return nil
	}
	namespace, err := w.model(ctx)
	if err != nil {
		return err
	}
	if w.seeded, err = w.remember(ctx, namespace, w.options.History, false); err != nil {
		return err
	}
	_, err = w.sweep(ctx) // the API server must have seen what etcd has, or its own catching up is measured
	return err
}

// model has an operator carry the specimen out, and returns a namespace for what is made after it.
func (w *world) model(ctx context.Context) (string, error) {
	if w.specimen == nil {
		defer w.killManagers()
		if _, err := w.startManager(ctx); err != nil {
			return "", err
		}
		var err error
		if w.specimen, err = w.observe(ctx); err != nil {
			return "", err
		}
	}
	return w.plane.Namespace(ctx)
}

// started starts an operator on n finished submissions, has it carry out one, and kills it.
func (w *world) started(ctx context.Context, n int) (sample report.Sample, err error) {
	namespace, err := w.plane.Namespace(ctx)
	if err != nil {
		return sample, err
	}
	begun := time.Now()
	p, err := w.startManager(ctx)
	defer w.killManagers()
	if err != nil {
		return sample, err
	}
	ready := time.Since(begun)
	first, err := w.first(ctx, namespace, begun)
	if err != nil {
		return sample, err
	}
	sample.Figures = map[string]float64{report.Objects: float64(n), report.ReadySeconds: ready.Seconds(), report.FirstSeconds: first.Seconds(), report.SeededBytes: float64(w.seeded)}
	for name, of := range map[string]func() (float64, error){
		report.MemoryMiB:   func() (float64, error) { return residentMiB(p.PID()) },
		report.ServerMiB:   w.apiServerMiB,
		report.StoredBytes: func() (float64, error) { return w.etcd(ctx, etcdInUse) },
		report.SweepSeconds: func() (float64, error) {
			took, err := w.sweep(ctx)
			return took.Seconds(), err
		},
	} {
		if sample.Figures[name], err = of(); err != nil {
			return sample, err
		}
	}
	return sample, nil
}

// first creates template and submission, and returns when that has succeeded, counted from begun on.
func (w *world) first(ctx context.Context, namespace string, begun time.Time) (time.Duration, error) {
	if err := w.install(ctx, namespace, kind{}); err != nil {
		return 0, err
	}
	f, err := follow(ctx, w.api, namespace)
	if err != nil {
		return 0, err
	}
	defer f.close()
	err = w.submitAll(ctx, f, load{n: 1, clients: 1})
	return time.Since(begun), err
}

// sweep is how long the requests of a sweep take that finds nothing: for records, and for submissions and decisions that
// have none, which are due or do not say yet when they are.
func (w *world) sweep(ctx context.Context) (time.Duration, error) {
	begun := time.Now()
	store := &record.Store{Client: w.api}
	if err := store.EachDue(ctx, "", begun, func(*v1alpha1.TaskRecord) {}); err != nil {
		return 0, err
	}
	for _, labelled := range []string{"!" + v1alpha1.LabelDue, v1alpha1.LabelDue + "<" + strconv.FormatInt(begun.Unix(), 10)} {
		selector, err := labels.Parse(labelled)
		if err != nil {
			return 0, err
		}
		due := client.MatchingLabelsSelector{Selector: selector}
		failed := fields.OneTermEqualSelector("status.phase", string(v1alpha1.PhaseFailed))
		if err := w.api.List(ctx, &v1alpha1.TaskSubmissionList{}, due, client.MatchingFieldsSelector{Selector: failed}, client.Limit(200)); err != nil {
			return 0, err
		}
		judged := fields.OneTermNotEqualSelector("status.state", string(v1alpha1.DecisionPending))
		if err := w.api.List(ctx, &v1alpha1.TaskDecisionList{}, due, client.MatchingFieldsSelector{Selector: judged}, client.Limit(200)); err != nil {
			return 0, err
		}
	}
	return time.Since(begun), nil
}

// removed puts n submissions there whose time is over, and measures until an operator has removed them.
func (w *world) removed(ctx context.Context, n int) (sample report.Sample, err error) {
	namespace, err := w.model(ctx)
	if err != nil {
		return sample, err
	}
	if _, err := w.remember(ctx, namespace, n, true); err != nil {
		return sample, err
	}
	begun := time.Now()
	defer w.killManagers()
	if _, err := w.startManager(ctx); err != nil {
		return sample, err
	}
	err = until(ctx, "what is due to be removed", func(ctx context.Context) (bool, error) {
		left, err := w.left(ctx, namespace)
		return left == 0, err
	})
	sample.Figures = map[string]float64{report.RemovedSeconds: time.Since(begun).Seconds(), report.Objects: float64(n)}
	return sample, err
}

// left is how many submissions a namespace has.
func (w *world) left(ctx context.Context, namespace string) (int, error) {
	page := &metav1.PartialObjectMetadataList{}
	page.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("TaskSubmissionList"))
	err := w.api.List(ctx, page, client.InNamespace(namespace), client.Limit(1))
	count := len(page.Items)
	if remaining := page.GetRemainingItemCount(); remaining != nil {
		count += int(*remaining)
	}
	return count, err
}
