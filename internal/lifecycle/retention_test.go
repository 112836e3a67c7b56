package lifecycle

import (
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// removedAfter sets the template's times to live.
func removedAfter(succeeded, failed time.Duration) option {
	return policy(func(s *v1alpha1.TaskTemplateSpec) {
		s.Retention.SubmissionTTL, s.Retention.FailedTTL = every(succeeded), every(failed)
	})
}

func TestRetentionOfWhatHasFinished(t *testing.T) {
	ttl := removedAfter(time.Minute, 2*time.Minute)
	kept := func(action func(*v1alpha1.Action)) option { return recorded(action, expiresIn(1000*time.Hour)) }
	const success, failure = "Store Success/Applied, attempt 1 Applied", "Store Failed/Rejected, attempt 1 NotApplied"
	decideAll(t, []row{
		{"its time is over", seen(kept(hasSucceeded), dueIn(-2*time.Second), ttl, finishedFor(time.Minute)), "Remove", ""},
		{"its time is not over", seen(kept(hasSucceeded), dueIn(time.Second), ttl, finishedFor(59*time.Second)), "Wait", ""},
		{"what failed has a time of its own", seen(kept(hasFailed), dueIn(time.Minute), ttl, finishedFor(time.Minute)), "Wait", ""},
		{"which ends too", seen(kept(hasFailed), dueIn(-2*time.Second), ttl, finishedFor(2*time.Minute)), "Remove", ""},
		{"kept records do not keep submissions", seen(recorded(hasSucceeded, keptForEver), keeps, ttl, finishedFor(time.Minute)), "Remove", ""},
		{"without a template the default counts", seen(kept(hasSucceeded), dueIn(-2*time.Second), notFound, finishedFor(defaultSubmissionTTL)), "Remove", ""},
		{"and for failures theirs", seen(kept(hasFailed), dueIn(time.Minute), notFound, finishedFor(defaultSubmissionTTL)), "Wait", ""},

		{"the status does not say since when", seen(kept(hasSucceeded), dueIn(time.Minute), ttl, status(func(s *v1alpha1.TaskSubmissionStatus) { s.Phase = v1alpha1.PhaseSuccess })), "Wait", ""},
		{"the status is not written yet", seen(kept(hasSucceeded), dueIn(time.Minute), ttl, later(time.Hour)), success, ""},
		{"it says a time to come", seen(kept(hasSucceeded), dueIn(time.Minute), ttl, finishedFor(-time.Hour)), "Wait", ""},
		{"which is looked at then, and not before", seen(kept(hasSucceeded), dueIn(-2*time.Second), ttl, finishedFor(-time.Hour)), success, ""},
		{"somebody is deleting it", seen(kept(hasSucceeded), dueIn(time.Minute), ttl, finishedFor(time.Hour), deleting), "Wait", ""},
		{"and is waited for no longer", seen(kept(hasSucceeded), dueIn(-2*time.Second), ttl, finishedFor(time.Hour), deleting), success, ""},
		{"another action's name", seen(kept(hasSucceeded), dueIn(time.Minute), ttl, finishedFor(time.Hour), otherPayload), "Wait 1000h0m0s", ""},

		{"a replay is looked at at its own time", seen(kept(hasSucceeded), ttl, recreated), success, ""},
		{"unless that is sooner already", seen(kept(hasSucceeded), dueIn(time.Second), ttl, recreated), "Wait", ""},
		{"the record is renewed first, where it would not outlive it for a while", seen(recorded(hasSucceeded, expiresIn(29*time.Minute)), ttl, finishedFor(time.Minute)), success, ""},
		{"it is gone, so the record is looked at when it expires", seen(kept(hasSucceeded), dueIn(-2*time.Second), gone), success, ""},
		{"or never", seen(recorded(hasFailed, keptForEver), dueIn(-2*time.Second), gone), failure, ""},
	})
}

func TestRemovalIsLabelled(t *testing.T) {
	ttl := removedAfter(time.Minute, 2*time.Minute)
	for reason, test := range map[string]struct {
		given Observation
		want  time.Duration // zero: no label for it
	}{
		"an end":                     {seen(recorded(), ttl, reported(applied)), time.Minute},
		"a failure":                  {seen(recorded(), ttl, reported(Report{Outcome: v1alpha1.OutcomeNotApplied, Permanent: true})), 2 * time.Minute},
		"an end without a template":  {seen(recorded(), notFound, reported(applied)), defaultSubmissionTTL},
		"what goes on":               {seen(recorded(), ttl, reported(noAnswer)), 0},
		"an end after the deletion":  {seen(recorded(), ttl, gone, reported(applied)), 0},
		"an end while it is deleted": {seen(recorded(), ttl, deleting, reported(applied)), 0},
		"an end under a reused key":  {seen(recorded(), ttl, otherPayload, reported(applied)), 0},
	} {
		step, ok := Decide(test.given).(Store)
		if !ok {
			t.Fatalf("%s: %T", reason, Decide(test.given))
		}
		want := time.Time{}
		if test.want > 0 {
			want = t0.Add(test.want)
		}
		if !step.RemoveAt.Equal(want) {
			t.Errorf("%s: to be removed at %s, want %s", reason, step.RemoveAt, want)
		}
	}
}

func TestDecisionsGoWithTheirRecord(t *testing.T) {
	with := func(changes ...func(*v1alpha1.Action)) *v1alpha1.Action {
		o := seen(recorded(changes...))
		return o.action()
	}
	const age = 29 * 24 * time.Hour
	for _, test := range []struct {
		reason string
		known  bool // that it had a record
		action *v1alpha1.Action
		age    time.Duration
		want   time.Duration // from now; zero: it is to be removed
	}{
		{"its record is there", true, with(hasSucceeded, expiresIn(time.Hour)), age, time.Hour},
		{"and is renewed or removed any moment", true, with(hasSucceeded, expiresIn(0)), age, time.Hour},
		{"it goes on", true, with(), age, time.Hour},
		{"its record is kept for ever", true, with(hasFailed, keptForEver), 100 * age, defaultRecordTTL},
		{"it is met first", false, with(hasSucceeded, expiresIn(time.Minute)), age, time.Minute},
		{"its record is gone", true, nil, time.Second, 0},
		{"its record was gone before it was met", true, nil, 0, 0},
		{"it never had a record", false, nil, age, 24 * time.Hour},
		{"and is old", false, nil, age + 24*time.Hour, 0},
	} {
		decision := &v1alpha1.TaskDecision{}
		decision.CreationTimestamp.Time = t0.Add(-test.age)
		switch {
		case test.known && test.age > 0:
			decision.Labels = map[string]string{v1alpha1.LabelRecord: "ik-x"}
		case test.known:
			decision.Status.RecordName = "ik-x"
		}
		at, over := RemoveDecision(t0, decision, test.action)
		if over != (test.want == 0) || (!over && !at.Equal(t0.Add(test.want))) {
			t.Errorf("%s: %v, %s", test.reason, over, at.Sub(t0))
		}
	}
}

func TestWhatFailedWithoutARecordGoes(t *testing.T) {
	spec := seen(removedAfter(time.Minute, time.Hour)).Template.Spec
	for _, test := range []struct {
		reason string
		edit   option
		spec   *v1alpha1.TaskTemplateSpec
		want   time.Duration // zero: it is to be removed
	}{
		{"its time is over", finishedFor(time.Hour), spec, 0},
		{"its time is to come", finishedFor(59 * time.Minute), spec, time.Minute},
		{"without a template", finishedFor(time.Hour), nil, defaultFailedTTL - time.Hour},
		{"it does not say since when", finishedFor(0), spec, 24 * time.Hour},
		{"somebody is deleting it", deleting, spec, 24 * time.Hour},
	} {
		submission := seen(finishedFor(time.Hour), test.edit).Submission
		submission.Status.Phase = v1alpha1.PhaseFailed
		if test.reason == "it does not say since when" {
			submission.Status.Conditions = nil
		}
		at, over := RemoveUnrecorded(t0, submission, test.spec)
		if over != (test.want == 0) || (!over && !at.Equal(t0.Add(test.want))) {
			t.Errorf("%s: %v, %s", test.reason, over, at.Sub(t0))
		}
	}
}

func TestDueLabel(t *testing.T) {
	action := func(change func(*v1alpha1.Action)) *v1alpha1.Action { o := seen(recorded(change)); return o.action() }
	for _, test := range []struct {
		reason   string
		action   *v1alpha1.Action
		removeAt time.Time
		want     time.Time // zero: none
	}{
		{"the submission goes first", action(hasSucceeded), t0.Add(time.Minute), t0.Add(time.Minute)},
		{"the record would go first", action(hasSucceeded), t0.Add(2 * time.Hour), t0.Add(time.Hour)},
		{"the record stays", action(func(a *v1alpha1.Action) { hasSucceeded(a); keptForEver(a) }), t0.Add(time.Minute), t0.Add(time.Minute)},
		{"only the record goes", action(hasSucceeded), time.Time{}, t0.Add(time.Hour)},
		{"nothing goes", action(func(a *v1alpha1.Action) { hasSucceeded(a); keptForEver(a) }), time.Time{}, time.Time{}},
	} {
		text, due := DueLabel(test.action, test.removeAt)
		o := seen(recorded(hasSucceeded))
		o.Record.Object.Labels[v1alpha1.LabelDue] = text
		atTheTime := o.isDueAfter(test.want.Add(-time.Second)) && !o.isDueAfter(test.want)
		if due == test.want.IsZero() || (due && !atTheTime) {
			t.Errorf("%s: %q %v, want %s", test.reason, text, due, test.want)
		}
	}
}
