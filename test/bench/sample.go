package main

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/bench/report"
)

// measure does something for n submissions and returns what that took.
func (w *world) measure(ctx context.Context, n int, do func(context.Context) error) (report.Sample, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	before, err := w.count(ctx)
	if err != nil {
		return report.Sample{}, err
	}
	profiles := w.profile(ctx)
	begun := time.Now()
	if err := do(ctx); err != nil {
		return report.Sample{}, err
	}
	sample := report.Sample{Submissions: n, Seconds: time.Since(begun).Seconds(), CPU: cpu()}
	for program := range sample.CPU {
		sample.CPU[program] -= before.cpu[program]
	}
	after, err := w.count(ctx)
	if err != nil {
		return report.Sample{}, err
	}
	sample.Requests = after.requests.since(before.requests).counts()
	sample.EtcdBytes, sample.EtcdStored = after.etcd-before.etcd, after.stored-before.stored
	return sample, profiles()
}

// counters are what programs have counted so far.
type counters struct {
	requests requests
	etcd     float64 // bytes written to the log
	stored   float64 // bytes that the database has in use
	cpu      map[string]float64
}

func (w *world) count(ctx context.Context) (c counters, err error) {
	if c.requests, err = scrape(ctx, w.clients.RESTClient()); err != nil {
		return c, err
	}
	if c.etcd, err = w.etcd(ctx, etcdWritten); err != nil {
		return c, err
	}
	c.stored, err = w.etcd(ctx, etcdInUse)
	c.cpu = cpu()
	return c, err
}

// percentiles sets how long each took.
func percentiles(sample *report.Sample, took []time.Duration) {
	if len(took) == 0 {
		return
	}
	slices.Sort(took)
	at := func(percent int) float64 {
		return float64(took[min(len(took)*percent/100, len(took)-1)].Microseconds()) / 1000
	}
	sample.P50, sample.P95, sample.P99 = at(50), at(95), at(99)
}

// weigh has the bare client write one submission, and keeps how large it is.
func (w *world) weigh(ctx context.Context) error {
	namespace, err := w.plane.Namespace(ctx)
	if err != nil {
		return err
	}
	one, record, err := w.writeBare(ctx, submission(namespace, 0))
	if err != nil {
		return err
	}
	w.bareSizes, err = sizes(one, record)
	return err
}

// sizes are the stored sizes, as JSON.
func sizes(submission *v1alpha1.TaskSubmission, record *v1alpha1.TaskRecord) (map[string]float64, error) {
	first, err := json.Marshal(submission)
	if err != nil {
		return nil, err
	}
	second, err := json.Marshal(record)
	return map[string]float64{report.SubmissionBytes: float64(len(first)), report.RecordBytes: float64(len(second))}, err
}
