package lifecycle

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// world is an API server, a receiver and a clock in a few lines, to walk judgement along whole stories. The model check
// walks every interleaving; these are the stories that are told in docs/lifecycle.md.
type world struct {
	t       *testing.T
	now     time.Time
	options []option
	records map[string]*v1alpha1.TaskRecord // by key
	claim   *v1alpha1.TaskRecord
	sent    map[string]int // effects sent, by key
	done    map[string]bool
}

func newWorld(t *testing.T, options ...option) *world {
	return &world{t: t, now: t0, options: options, records: map[string]*v1alpha1.TaskRecord{}, sent: map[string]int{}, done: map[string]bool{}}
}

// process is an operator process with one action in hand. answer is what the receiver tells it.
type process struct {
	*world
	name, key string
	flight    Flight
	sight     *sight
	decisions []v1alpha1.TaskDecision
	status    v1alpha1.TaskSubmissionStatus
	answer    func(process *process, check bool) Report
}

type sight struct {
	uid     types.UID
	attempt int32
	since   time.Time
}

func (w *world) process(name, key string, answer func(*process, bool) Report) *process {
	return &process{world: w, name: name, key: key, answer: answer, status: v1alpha1.TaskSubmissionStatus{Phase: v1alpha1.PhasePending}}
}

func (p *process) observe() Observation {
	o := seen(p.options...)
	o.Now, o.Executor, o.Key, o.Flight, o.Decisions = p.now, p.name, p.key, p.flight, p.decisions
	o.Submission.Name, o.Submission.UID, o.Submission.Status = p.key, types.UID(p.key+"-uid"), p.status
	if record := p.records[p.key]; record != nil {
		o.Record = Record{Read: true, Object: record.DeepCopy()}
		attempt := record.Spec.Action.Attempt.Number
		if p.sight == nil || p.sight.uid != record.UID || p.sight.attempt != attempt {
			p.sight = &sight{record.UID, attempt, p.now}
		}
		o.Sighted = p.now.Sub(p.sight.since)
	}
	return o
}

// run goes on until there is something to wait for, and returns for how long. Reports come at once.
func (p *process) run() time.Duration {
	p.t.Helper()
	o := p.observe()
	for range 20 {
		step := Decide(o)
		wait, waits := step.(Wait)
		switch {
		case !waits:
			p.act(&o, step)
		case p.flight.State == FlightRunning:
			p.flight.State, p.flight.Report = FlightFinished, p.answer(p, p.flight.Kind.Checks())
		default:
			p.status = Project(o)
			return wait.In
		}
		claim, read := o.Claim, o.Record.Read
		o = p.observe()
		o.Claim, o.Record.Read = claim, o.Record.Read || read
	}
	p.t.Fatalf("%s does not come to rest with %s", p.name, p.key)
	return 0
}

func (p *process) act(o *Observation, step Step) {
	switch step := step.(type) {
	case Begin:
		p.put(step.Action, time.Time{})
		p.flight = Flight{State: FlightGranted, Attempt: step.Action.Attempt.Number}
	case Store:
		p.put(step.Action, step.RemoveAt)
		if p.flight.State == FlightFinished {
			p.flight = Flight{}
		}
	case ReadClaim:
		o.Claim = p.readClaim()
	case CreateClaim:
		if p.claim == nil {
			p.holdClaim()
		}
		o.Claim = p.readClaim()
	case TakeClaim:
		p.holdClaim()
		o.Claim = p.readClaim()
	case Launch:
		p.flight.State = FlightRunning
		p.sent[p.key]++
	case Check:
		p.flight = Flight{State: FlightRunning, Attempt: o.action().Attempt.Number, Kind: step.Kind}
	case Abandon:
		p.flight = Flight{}
	case Judge:
		p.decisions = nil
	default:
		carryOut(o, step)
	}
}

func (p *process) put(action v1alpha1.Action, removeAt time.Time) {
	record := p.records[p.key]
	if record == nil {
		record = seen(recorded()).Record.Object
		record.Name, record.UID, record.Spec.Key = v1alpha1.RecordName(p.key), types.UID(p.key+"-record"), p.key
	}
	record.Spec.Action = action.DeepCopy()
	labelled(record, removeAt)
	p.records[p.key] = record
}

func (p *process) holdClaim() {
	record := p.records[p.key]
	p.claim = seen(claimedBy(record.Name, record.UID, record.Spec.Action.Retries)).Claim.Object
}

func (w *world) readClaim() Claim {
	claim := Claim{Read: true, Object: w.claim}
	for _, record := range w.records {
		if w.claim != nil && w.claim.Spec.Holder.Record == record.Name {
			claim.Holder = record
		}
	}
	return claim
}

func (p *process) expect(phase v1alpha1.Phase, reason v1alpha1.Reason, sent int) {
	p.t.Helper()
	if p.status.Phase != phase || p.status.Reason != reason || p.sent[p.key] != sent {
		p.t.Fatalf("%s has %s at %s/%s (%s) after %d sends; want %s/%s after %d", p.name, p.key, p.status.Phase, p.status.Reason, p.status.Message, p.sent[p.key], phase, reason, sent)
	}
}

func always(report Report) func(*process, bool) Report {
	return func(p *process, _ bool) Report {
		p.done[p.key] = p.done[p.key] || report.Outcome == v1alpha1.OutcomeApplied
		return report
	}
}

// timesOut never answers the effect, and answers checks by what the receiver has.
func timesOut(p *process, check bool) Report {
	switch {
	case !check:
		p.now = p.now.Add(timeout)
		return noAnswer
	case p.done[p.key]:
		return applied
	default:
		return Report{Outcome: v1alpha1.OutcomeNotApplied, Message: "404"}
	}
}

func TestStraightPathStory(t *testing.T) {
	a := newWorld(t).process("A", "k", always(applied))
	a.run()
	a.expect(v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied, 1)
	again := a.process("B", "k", always(applied))
	again.run()
	again.expect(v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied, 1)
}

func TestRetriesStory(t *testing.T) {
	a := newWorld(t).process("A", "k", always(busy))
	for range 2 {
		a.now = a.now.Add(a.run())
		a.expect(v1alpha1.PhaseProcessing, v1alpha1.ReasonRetrying, int(a.records["k"].Spec.Action.Tries))
	}
	a.run()
	a.expect(v1alpha1.PhaseFailed, v1alpha1.ReasonRetriesExhausted, 3)
}

func TestOrphanStory(t *testing.T) {
	w := newWorld(t, verifies)
	a := w.process("A", "k", nil)
	o := a.observe()
	a.act(&o, Decide(o)) // A begins, and is killed
	b := w.process("B", "k", timesOut)
	w.now = w.now.Add(b.run())
	b.expect(v1alpha1.PhaseProcessing, v1alpha1.ReasonExecuting, 0)
	w.done["k"] = true // A had sent it
	b.run()
	b.expect(v1alpha1.PhaseSuccess, v1alpha1.ReasonVerifiedApplied, 0)
}

func TestLateCommitStoryHazard4(t *testing.T) {
	w := newWorld(t, verifies)
	a := w.process("A", "k", timesOut)
	wait := a.run()
	if a.expect(v1alpha1.PhaseProcessing, v1alpha1.ReasonVerifying, 1); wait < settleAfter-time.Second {
		t.Fatalf("a no is believed after %s", wait)
	}
	w.now, w.done["k"] = w.now.Add(wait), true // committed late, within the settling time
	a.run()
	a.expect(v1alpha1.PhaseSuccess, v1alpha1.ReasonVerifiedApplied, 1)
}

func TestLostRequestStory(t *testing.T) {
	w := newWorld(t, verifies)
	lost := true
	a := w.process("A", "k", func(p *process, check bool) Report {
		if lost || check {
			return timesOut(p, check)
		}
		return always(applied)(p, check)
	})
	w.now = w.now.Add(a.run())
	lost = false // the receiver never had it: verified after its settling time, it is sent again
	a.run()
	a.expect(v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied, 2)
}

func TestReplayUntilABudgetStoryI9(t *testing.T) {
	w := newWorld(t, replaySafe, func(o *Observation) { o.Template.Verifies = true })
	a := w.process("A", "k", always(noAnswer))
	var waited time.Duration
	for range 20 {
		if a.status.Reason == v1alpha1.ReasonOutcomeUnknown {
			break
		}
		wait := a.run()
		waited += wait
		w.now = w.now.Add(wait)
	}
	a.expect(v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown, 4) // the attempt, and a repeat for each check but the first
	if waited < 10*time.Second {
		t.Errorf("the budget is spent within %s", waited)
	}
}

func TestBusinessKeyStoryI7(t *testing.T) {
	w := newWorld(t, businessKey)
	refuses := true
	first := w.process("A", "k1", func(p *process, check bool) Report {
		if refuses {
			return busy
		}
		return always(applied)(p, check)
	})
	second := w.process("B", "k2", always(applied))
	w.now = w.now.Add(first.run())
	second.run()
	second.expect(v1alpha1.PhasePending, v1alpha1.ReasonBusinessKeyHeld, 0)
	refuses = false
	first.run()
	first.expect(v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied, 2)
	second.run()
	second.expect(v1alpha1.PhaseSuccess, v1alpha1.ReasonAlreadyApplied, 0)
	if second.status.DuplicateOf != "k1" && second.status.DuplicateOf != "k" {
		t.Errorf("a duplicate of %q", second.status.DuplicateOf)
	}
}

func TestTakeOverAndRetryStoryHazard2(t *testing.T) {
	w := newWorld(t, businessKey)
	first := w.process("A", "k1", always(refusal))
	first.run()
	first.expect(v1alpha1.PhaseFailed, v1alpha1.ReasonRejected, 1)
	second := w.process("B", "k2", always(applied))
	second.run() // the holder failed: taken over
	second.expect(v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied, 1)
	o := seen(decided(v1alpha1.DecisionRetry, 1, naming("k1-uid")))
	first.decisions = o.Decisions
	first.answer = always(applied)
	first.run() // a Retry of the first finds that its business key is the second's
	first.expect(v1alpha1.PhaseSuccess, v1alpha1.ReasonAlreadyApplied, 1)
}
