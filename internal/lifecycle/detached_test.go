package lifecycle

import (
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

func detached(o *Observation) { o.Template.Detached, o.Template.Verifies = true, true }

func running(o *Observation) { o.Runs = true }

// job names the attempt's Job.
func job(number int32) func(*v1alpha1.Action) {
	return func(a *v1alpha1.Action) { a.Attempt.Job = number }
}

func located(a *v1alpha1.Action)  { a.Attempt.Location = "k-a1" }
func doubtful(a *v1alpha1.Action) { a.Attempt.Doubt = true }
func finished(a *v1alpha1.Action) {
	a.Attempt.Finished, a.Attempt.Message = true, "the Job failed"
}

var (
	made       = Report{Outcome: v1alpha1.OutcomeInProgress, Message: "made", Location: "k-a1"}
	neverThere = Report{Outcome: v1alpha1.OutcomeNotApplied, Message: "never there", Final: true}
	vanished   = Report{Outcome: v1alpha1.OutcomeUnknown, Message: "gone", Final: true}
	exitListed = Report{Outcome: v1alpha1.OutcomeNotApplied, Message: "exit code 3", Final: true, Finished: true}
	exitOther  = Report{Outcome: v1alpha1.OutcomeUnknown, Message: "exit code 1", Final: true, Finished: true}
)

// TestTheNameStaysUntilTheJobWasSeenFinishedHazard14: the number in the name is that of the attempt which named it.
func TestTheNameStaysUntilTheJobWasSeenFinishedHazard14(t *testing.T) {
	for _, tt := range []struct {
		reason string
		given  Observation
		want   v1alpha1.Attempt
	}{
		{"the first attempt names it", seen(detached), v1alpha1.Attempt{Number: 1, Job: 1}},
		{"what was never sent keeps its name", seen(recorded(job(1), retrying), detached), v1alpha1.Attempt{Number: 2, Job: 1}},
		{"what was refused, after a create whose answer was lost, keeps its name", seen(recorded(job(1), number(2), retrying), detached), v1alpha1.Attempt{Number: 3, Job: 1}},
		{"where it was seen, that stays known", seen(recorded(job(1), retrying, located, doubtful), detached), v1alpha1.Attempt{Number: 2, Job: 1, Location: "k-a1", Doubt: true}},
		{"it was let go and vanished: another of its name settles nothing", seen(recorded(job(1), unknown, located, checks(1)), detached, replaySafe), v1alpha1.Attempt{Number: 2, Job: 1, Location: "k-a1", Doubt: true}},
		{"it was seen finished, so the next one has another", seen(recorded(job(1), retrying, located, finished), detached), v1alpha1.Attempt{Number: 2, Job: 2}},
		{"its outcome is in doubt, and the next one settles nothing", seen(recorded(job(1), unknown, located, finished), detached, replaySafe), v1alpha1.Attempt{Number: 2, Job: 2, Doubt: true}},
		{"what it was is not known", seen(recorded(unknown), detached, replaySafe, func(o *Observation) { o.Template.Verifies = false }), v1alpha1.Attempt{Number: 2, Job: 2, Doubt: true}},
		{"other effects have none", seen(), v1alpha1.Attempt{Number: 1}},
	} {
		step, ok := Decide(tt.given).(Begin)
		got := step.Action.Attempt
		if !ok || got.Number != tt.want.Number || got.Job != tt.want.Job || got.Location != tt.want.Location || got.Doubt != tt.want.Doubt || got.Finished {
			t.Errorf("%s: %T %+v, want %+v", tt.reason, Decide(tt.given), got, tt.want)
		}
	}
}

// TestAJobThatVanishedIsNotSettledByTheNextOfItsNameI4Hazard14: vanished, made again, and that one ended with a listed code.
func TestAJobThatVanishedIsNotSettledByTheNextOfItsNameI4Hazard14(t *testing.T) {
	gone := seen(recorded(job(1), accepted, tries(2)), detached, replaySafe, checked(Verification, vanished))
	stored := Decide(gone).(Store).Action
	again := Decide(seen(holding(stored), detached, replaySafe, later(time.Hour/2))).(Begin).Action
	again.Attempt.Outcome = v1alpha1.OutcomeInProgress
	decideAll(t, []row{
		{"vanished, repeated, listed exit code", seen(holding(again), detached, replaySafe, checked(Verification, exitListed), func(o *Observation) { o.Flight.Attempt = 2 }), "Store Processing/Verifying, attempt 2 NotApplied, unsettled, in 4s", "an earlier attempt"},
	})
}

// holding has the record hold an action that was stored.
func holding(stored v1alpha1.Action) option {
	return recorded(func(a *v1alpha1.Action) { *a = stored })
}

func TestConcludeWhatADetachedAttemptStartedHazard14(t *testing.T) {
	mine := func(changes ...func(*v1alpha1.Action)) option {
		return recorded(append([]func(*v1alpha1.Action){job(1)}, changes...)...)
	}
	decideAll(t, []row{
		{"it was made, and goes on at once now that the record knows", seen(mine(), detached, reported(made)), "Store Processing/InProgress, attempt 1 InProgress, unsettled, in 0s", "made"},
		{"it was found, made by an attempt that nobody heard of", seen(mine(unknown), detached, checked(Verification, made)), "Store Processing/InProgress, attempt 1 InProgress, unsettled, in 0s", "made"},
		{"known already, it is in progress and spends no check", seen(mine(unknown, located), detached, checked(Verification, made)), "Store Processing/InProgress, attempt 1 Unknown, unsettled, in 1s", ""},
		{"it never was, so it never ran: not counted", seen(mine(unknown), detached, checked(Verification, neverThere)), "Store Processing/Retrying, attempt 1 NotApplied, in 1s", "never there"},
		{"the same, and an earlier one is in doubt", seen(mine(unknown, doubtful), detached, checked(Verification, neverThere)), "Store Processing/Verifying, attempt 1 NotApplied, unsettled, in 1s", ""},
		{"it vanished: nobody can tell", seen(mine(accepted), detached, checked(Verification, vanished)), "Store Processing/OutcomeUnknown, attempt 1 Unknown, unsettled", "gone"},
		{"it vanished, and is safe to repeat", seen(mine(accepted), detached, replaySafe, checked(Verification, vanished)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 1s", "gone"},
		{"a listed exit code counts as a try", seen(mine(accepted), detached, checked(Verification, exitListed)), "Store Processing/Retrying, attempt 1 NotApplied, in 1s", "at most 2 more times"},
		{"a listed exit code, and no try is left", seen(mine(accepted, tries(2)), detached, checked(Verification, exitListed)), "Store Failed/RetriesExhausted, attempt 1 NotApplied", ""},
		{"I4: a listed exit code says nothing of an earlier Job in doubt", seen(mine(accepted, tries(2), doubtful), detached, checked(Verification, exitListed)), "Store Processing/Verifying, attempt 1 NotApplied, unsettled, in 4s", "an earlier attempt"},
		{"any other failure asks", seen(mine(accepted), detached, checked(Verification, exitOther)), "Store Processing/OutcomeUnknown, attempt 1 Unknown, unsettled", "exit code 1"},
		{"found finished when it was to be made", seen(mine(), detached, reported(exitListed)), "Store Processing/Retrying, attempt 1 NotApplied, in 1s", ""},
		{"it ended well", seen(mine(accepted), detached, checked(Verification, applied)), "Store Success/Applied, attempt 1 Applied", ""},
		{"a template that was edited repeats nothing", seen(mine(accepted), detached, replaySafe, wasEdited, checked(Verification, exitOther)), "Store Processing/OutcomeUnknown, attempt 1 Unknown, unsettled", ""},
	})
}

// TestWhatIsKeptOfAnEnd: whether another number may be taken, and whether it counts as a try.
func TestWhatIsKeptOfAnEnd(t *testing.T) {
	for _, tt := range []struct {
		reason   string
		report   Report
		finished bool
		tries    int32
	}{
		{"it ended with a listed code", exitListed, true, 1},
		{"it ended in another way", exitOther, true, 0},
		{"it never was", neverThere, false, 0},
		{"it vanished", vanished, false, 0},
	} {
		o := seen(recorded(job(1), accepted), detached, checked(Verification, tt.report))
		step, ok := Decide(o).(Store)
		if !ok || step.Action.Attempt.Finished != tt.finished || step.Action.Tries != tt.tries {
			t.Errorf("%s: finished %t, tries %d", tt.reason, step.Action.Attempt.Finished, step.Action.Tries)
		}
	}
}

func TestFollowADetachedAttempt(t *testing.T) {
	inTime, late := later(time.Minute), later(5*time.Minute)
	stuckOnce := recorded(job(1), unknown, located, because(v1alpha1.ReasonInProgress))
	decideAll(t, []row{
		{"what runs is not asked for", seen(recorded(job(1), accepted), detached, running, inTime), "Wait 4m0s", ""},
		{"what was told of is asked for", seen(recorded(job(1), accepted), detached, inTime), "Poll", ""},
		{"longer than stuckAfter", seen(recorded(job(1), accepted), detached, running, late), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", "stuckAfter"},
		{"then it is read", seen(recorded(job(1), unknown, located), detached, running, late), "Verify", ""},
		{"and waited for, however long", seen(stuckOnce, detached, running, later(100*time.Hour)), "Wait", ""},
		{"until it is told of", seen(stuckOnce, detached, late), "Verify", ""},
		{"an edited template can still read it", seen(stuckOnce, detached, wasEdited, late), "Verify", ""},
		{"mode Manual reads it all the same", seen(recorded(job(1), unknown, located), detached, manual, running, late), "Verify", ""},
		{"mode Manual waits for what runs", seen(stuckOnce, detached, manual, running, late), "Wait", ""},
		{"mode Manual reads it when it is told of", seen(stuckOnce, detached, manual, late), "Verify", ""},
		{"mode Manual asks what was seen finished", seen(recorded(job(1), unknown, located, finished), detached, manual, replaySafe), "Store Processing/OutcomeUnknown, attempt 1 Unknown, unsettled", "to a person"},
		{"mode Manual makes nothing again that vanished", seen(recorded(job(1), accepted), detached, manual, replaySafe, checked(Verification, vanished)), "Store Processing/OutcomeUnknown, attempt 1 Unknown, unsettled", "gone"},
		{"mode Manual repeats nothing that could not be read", seen(recorded(job(1), unknown, located, checks(1)), detached, manual, replaySafe), "Verify", ""},
		{"what runs cannot be confirmed, whatever was asked", seen(recorded(job(1), unknown, located, because(v1alpha1.ReasonOutcomeUnknown)), detached, running, decided(v1alpha1.DecisionConfirmNotApplied, 1)), "Judge Refused", "still runs"},
		{"what runs cannot be confirmed", seen(recorded(job(1), accepted), detached, running, decided(v1alpha1.DecisionConfirmNotApplied, 1)), "Judge Refused", "still runs"},
		{"what is gone can", seen(recorded(job(1), unknown, located, because(v1alpha1.ReasonOutcomeUnknown)), detached, decided(v1alpha1.DecisionConfirmNotApplied, 1)), "Store Failed/ConfirmedNotApplied, attempt 1 NotApplied", ""},
		{"what was seen finished is not read again", seen(recorded(job(1), unknown, located, finished), detached), "Store Processing/OutcomeUnknown, attempt 1 Unknown, unsettled", "the Job failed"},
		{"and repeated where that is safe", seen(recorded(job(1), unknown, located, finished), detached, replaySafe), "Begin 2", ""},
	})
}

func TestARestoredAttemptHasNoJobHazard22(t *testing.T) {
	o := seen(recorded(fromBackup, job(1), accepted), detached)
	if step, ok := Decide(o).(Store); !ok || step.Action.Attempt.Job != 0 || !step.Action.Unsettled {
		t.Errorf("%+v", Decide(o))
	}
}

func TestWhatIsFollowedAndHolds(t *testing.T) {
	for _, tt := range []struct {
		reason         string
		given          Observation
		follows, holds bool
	}{
		{"it runs", seen(recorded(job(1), accepted)), true, true},
		{"it is read, after stuckAfter", seen(recorded(job(1), unknown, located)), true, true},
		{"it was not made yet", seen(recorded(job(1))), false, false},
		{"nobody knows whether it was made", seen(recorded(job(1), unknown)), false, false},
		{"it was seen finished", seen(recorded(job(1), unknown, located, finished)), false, false},
		{"a person is asked", seen(recorded(job(1), unknown, located, because(v1alpha1.ReasonOutcomeUnknown))), true, false},
		{"an attempt of another effect", seen(recorded(accepted)), false, false},
		{"it ended", seen(recorded(job(1), located, hasSucceeded)), false, false},
	} {
		if follows, holds := Follows(tt.given.action()), Holds(tt.given.action()); follows != tt.follows || holds != tt.holds {
			t.Errorf("%s: follows %t, holds %t", tt.reason, follows, holds)
		}
	}
}
