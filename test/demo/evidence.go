package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// evidence is all that a verdict may rest on: the receiver's log, the API's objects as they are at the end and as
// they were on the way, and what the API server answered.
type evidence struct {
	namespace   string
	entries     []ledger.Entry
	submissions []v1alpha1.TaskSubmission
	templates   []v1alpha1.TaskTemplate
	records     []v1alpha1.TaskRecord
	jobs        []batchv1.Job
	pods        []corev1.Pod
	journal     *journal

	// of the step that is judged
	answers []answer
	seen    map[string]*v1alpha1.TaskSubmission
}

// gather reads the evidence when all is over: the operator has stopped and the receiver has nothing left to do.
func (w *world) gather(ctx context.Context) (*evidence, error) {
	e := &evidence{namespace: w.namespace, journal: w.journal}
	var submissions v1alpha1.TaskSubmissionList
	var templates v1alpha1.TaskTemplateList
	var records v1alpha1.TaskRecordList
	var jobs batchv1.JobList
	var pods corev1.PodList
	for _, list := range []client.ObjectList{&submissions, &templates, &records, &jobs, &pods} {
		if err := w.api.List(ctx, list, client.InNamespace(w.namespace)); err != nil {
			return nil, err
		}
	}
	e.submissions, e.templates, e.records = submissions.Items, templates.Items, records.Items
	e.jobs, e.pods = jobs.Items, pods.Items
	w.journal.settle(ctx)
	var err error
	e.entries, err = ledger.Read(w.receiver.ledger)
	return e, err
}

// of returns the evidence with what one step was answered and has kept.
func (e *evidence) of(s *stage) *evidence {
	mine := *e
	mine.answers, mine.seen = s.answers, s.seen
	return &mine
}

// log returns the entries of one kind for an idempotency key.
func (e *evidence) log(kind ledger.Kind, key string) []ledger.Entry {
	return ledger.Select(e.entries, kind, downstreamKey(e.namespace, nameOf(key)))
}

// submission returns the one of a key as it is at the end, or nil.
func (e *evidence) submission(key string) *v1alpha1.TaskSubmission {
	for i := range e.submissions {
		if e.submissions[i].Name == nameOf(key) {
			return &e.submissions[i]
		}
	}
	return nil
}

// standing returns where the submission of a key stands at the end.
func (e *evidence) standing(key string) string {
	if s := e.submission(key); s != nil {
		return standing(s)
	}
	return "no submission"
}

// was reports whether a submission of the key ever stood so; a phase alone matches any reason.
func (e *evidence) was(key, where string) bool {
	return slices.ContainsFunc(e.journal.standings(nameOf(key)), func(then string) bool {
		return then == where || strings.HasPrefix(then, where+"/")
	})
}

// recordsOf returns how many records there are for any of the keys.
func (e *evidence) recordsOf(keys ...string) int {
	count := 0
	for _, record := range e.records {
		if slices.Contains(keys, record.Spec.Key) {
			count++
		}
	}
	return count
}

// tally returns the API server's answers to one kind of request, such as "1 Created, 49 AlreadyExists".
func (e *evidence) tally(request string) string {
	counts := map[string]int{}
	var order []string
	for _, a := range e.answers {
		if a.request != request {
			continue
		}
		if counts[a.reason]++; counts[a.reason] == 1 {
			order = append(order, a.reason)
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { return boolToInt(b == "Created") - boolToInt(a == "Created") })
	for i, reason := range order {
		order[i] = fmt.Sprintf("%d %s", counts[reason], reason)
	}
	return strings.Join(order, ", ")
}

// gap returns the time between two entries.
func gap(from, to ledger.Entry) time.Duration { return to.Time.Sub(from.Time) }

func nameOf(key string) string {
	name, err := v1alpha1.NameForKey(key)
	if err != nil {
		panic(err) // a key in this package is wrong
	}
	return name
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
