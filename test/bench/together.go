package main

import (
	"context"
	"fmt"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/bench/report"
)

// together has two operators work on the same objects at once, without electing a leader, and counts effects. Each
// business key is submitted under two idempotency keys.
func together() section {
	return section{name: report.SectionTogether, comparisons: func(o Options) []comparison {
		return []comparison{{name: report.Active, pairs: o.Rounds, sides: []side{{report.Operator, func(ctx context.Context, w *world) (report.Sample, error) {
			if _, err := w.startManager(ctx); err != nil {
				return report.Sample{}, err
			}
			return w.together(ctx, o.Submissions/2)
		}}}}}
	}}
}

func (w *world) together(ctx context.Context, keys int) (report.Sample, error) {
	l := load{n: 2 * keys, clients: 32, kind: kind{spec: map[string]any{"businessKey": "${params.studentId}"}}}
	l.of = func(namespace string, n int) *v1alpha1.TaskSubmission {
		s := submission(namespace, n)
		s.Spec.Parameters = submission(namespace, n/2).Spec.Parameters
		return s
	}
	before := w.receiver.total()
	sample, err := w.through(ctx, l)
	if err != nil {
		return sample, err
	}
	effects := w.receiver.total() - before
	sample.Figures = map[string]float64{report.Doubled: float64(effects - keys)}
	if effects != keys {
		sample.Faults = append(sample.Faults, fmt.Sprintf("%d business keys had %d effects", keys, effects))
	}
	return sample, nil
}
