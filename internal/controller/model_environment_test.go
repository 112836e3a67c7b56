package controller

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// successors returns every state that one step leads to.
func (w *world) successors() []*world {
	var all []*world
	try := func(step func(*world)) {
		next := w.clone()
		step(next)
		if next.scenario.coarse {
			for _, p := range next.processes {
				p.cache = next.cached()
			}
		}
		all = append(all, next)
	}
	for i := range w.processes {
		w.operatorSteps(i, try)
	}
	w.receiverSteps(try)
	w.peopleSteps(try)
	if w.now < w.scenario.until {
		try(func(w *world) {
			w.now += tick
			w.lapse()
			w.tell("time passes")
		})
	}
	return all
}

func (w *world) names() []types.NamespacedName {
	var names []types.NamespacedName
	for _, submission := range w.scenario.submissions {
		names = append(names, types.NamespacedName{Namespace: modelNamespace, Name: submission.Name})
	}
	return names
}

// operatorSteps are what a process may do: begin a pass, take one step of it with or without a fault, send, learn an
// answer, hear from its watches, and die.
func (w *world) operatorSteps(i int, try func(func(*world))) {
	p := w.processes[i]
	if p.pass == nil {
		for _, name := range w.names() {
			try(func(w *world) { w.beginPass(w.processes[i], name) })
			if w.isDue(name) {
				try(func(w *world) { w.beginDuePass(w.processes[i], name) })
			}
		}
	} else {
		try(func(w *world) { w.stepPass(w.processes[i], noFault) })
		if w.budget.LoseAnswer > 0 {
			try(func(w *world) { w.budget.LoseAnswer--; w.stepPass(w.processes[i], answerLost) })
		}
		if w.budget.LoseWrite > 0 {
			try(func(w *world) { w.budget.LoseWrite--; w.stepPass(w.processes[i], writeLost) })
		}
	}
	for _, name := range p.submissions.flights.Actions() {
		w.flightSteps(i, name, try)
	}
	if w.scenario.coarse {
		w.operatorDies(i, try)
		return
	}
	for key, current := range w.cached() {
		if p.cache[key] != current {
			try(func(w *world) { w.processes[i].cache[key] = w.objects[key]; w.tell("p%d sees the new %s", i, key) })
		}
	}
	for key := range p.cache {
		if w.cached()[key] == nil {
			try(func(w *world) {
				delete(w.processes[i].cache, key)
				w.tell("p%d sees that %s has finished or is gone", i, key)
			})
		}
	}
	w.operatorDies(i, try)
}

func (w *world) operatorDies(i int, try func(func(*world))) {
	if w.budget.Kill > 0 {
		try(func(w *world) { w.kill(w.processes[i]) })
	}
}

func (w *world) beginPass(p *process, name types.NamespacedName) {
	pass, err := p.submissions.observe(context.Background(), name)
	if err == nil {
		p.pass = pass
	}
	w.tell("p%d looks at %s", p.number, name.Name)
	w.goOn(p)
}

// goOn takes the steps that nobody else can see, at once: interleaving them with anything gives no other state.
func (w *world) goOn(p *process) {
	for p.pass != nil {
		observation := p.submissions.observation(p.pass)
		switch step := p.submissions.decide(observation).(type) {
		case lifecycle.Launch, lifecycle.Check, lifecycle.Abandon:
		case lifecycle.ReadRecord, lifecycle.ReadClaim:
			if !w.scenario.coarse {
				return
			}
		case lifecycle.Wait:
			if s := p.pass.submission; s != nil && !step.Quiet && differs(s.Status, lifecycle.Project(observation)) {
				return // a write
			}
			p.pass = nil
			return
		default:
			return
		}
		_ = w.advance(p) // it calls nobody
	}
}

// differs compares two statuses but for what is only said: each of two processes knows best what it runs itself, and
// would say so in turn for ever.
func differs(a, b v1alpha1.TaskSubmissionStatus) bool {
	return a.Phase != b.Phase || a.Reason != b.Reason || a.Attempts != b.Attempts || a.ResultDigest != b.ResultDigest ||
		a.DuplicateOf != b.DuplicateOf || a.Replayed != b.Replayed || a.RecordName != b.RecordName
}

// advance takes one step of the pass, and ends it where it is done or failed.
func (w *world) advance(p *process) error {
	done, _, err := p.submissions.advance(context.Background(), p.pass)
	if done || err != nil {
		p.pass = nil
	}
	return err
}

// isDue reports whether the due loop would meet the record: its submission is gone, and its time has come.
func (w *world) isDue(name types.NamespacedName) bool {
	r := w.recordOf(name.Name)
	if r == nil || w.objects["submission/"+name.Name] != nil {
		return false
	}
	at, due := lifecycle.Due(r.Spec.Action)
	return due && !r.Spec.Action.Phase.Terminal() && !modelEpoch.Add(w.now).Before(at)
}

func (w *world) beginDuePass(p *process, name types.NamespacedName) {
	pass, err := p.submissions.observeDue(context.Background(), w.recordOf(name.Name))
	if err == nil {
		p.pass = pass
	}
	w.tell("p%d sweeps the record of %s", p.number, name.Name)
	w.goOn(p)
}

func (w *world) stepPass(p *process, fault apiFault) {
	p.fault = fault
	name := p.pass.action.Name
	step := stepName(p.submissions.decide(p.submissions.observation(p.pass)))
	err := w.advance(p)
	unused := p.fault != noFault // no write was made: the same as without the fault
	p.fault = noFault
	switch {
	case errors.Is(err, errLost):
		w.tell("p%d %s %s, and hears nothing of it", p.number, step, name)
	case err != nil:
		w.tell("p%d %s %s: %v", p.number, step, name, err)
	case unused:
		w.tell("p%d %s %s (nothing to lose)", p.number, step, name)
	default:
		w.tell("p%d %s %s", p.number, step, name)
	}
	w.goOn(p)
}

func (w *world) kill(p *process) {
	w.budget.Kill--
	w.tell("p%d is killed and starts again", p.number)
	p.start++
	p.pass = nil
	p.submissions = w.operator(p, nil)
	p.cache = w.cached()
}

// flightSteps are how an attempt or a check goes on.
func (w *world) flightSteps(i int, name types.NamespacedName, try func(func(*world))) {
	f := w.processes[i].submissions.flights.(*modelFlights).all[name]
	end := func(outcome effect.Outcome, err error, text string) {
		try(func(w *world) {
			w.processes[i].submissions.flights.(*modelFlights).all[name].end(outcome, err)
			w.tell("p%d hears of %s: %s", i, name.Name, text)
		})
	}
	late := !modelClock{world: w}.Now().Before(f.deadline)
	switch {
	case f.state != lifecycle.FlightRunning:
	case f.ticket.Check:
		w.checkSteps(name, end)
		if w.budget.CannotTell > 0 {
			try(func(w *world) {
				w.budget.CannotTell--
				w.processes[i].submissions.flights.(*modelFlights).all[name].end(effect.Outcome{Kind: v1alpha1.OutcomeUnknown, Message: "cannot tell"}, nil)
				w.tell("p%d hears of %s: cannot tell", i, name.Name)
			})
		}
	case f.request == 0 && late:
		end(effect.Outcome{}, errors.New("the time-out was over before it was sent"), "not sent: too late")
	case f.request == 0:
		try(func(w *world) { w.send(w.processes[i], name) })
	default:
		w.answerSteps(i, name, f, late, try, end)
	}
}

func (w *world) checkSteps(name types.NamespacedName, end func(effect.Outcome, error, string)) {
	if w.receiver.effects[name.Name] > 0 {
		end(effect.Outcome{Kind: v1alpha1.OutcomeApplied}, nil, "verified: applied")
		return
	}
	end(effect.Outcome{Kind: v1alpha1.OutcomeNotApplied}, nil, "verified: not there")
}

// send is the moment at which a request leaves: it holds, or not, that it was begun, and only once (I2, I3).
func (w *world) send(p *process, name types.NamespacedName) {
	f := p.submissions.flights.(*modelFlights).all[name]
	executor := p.submissions.Executor
	if !w.acked[beginName(name.Name, f.ticket.Attempt, executor)] {
		w.violate("I2: attempt %d of %s was sent, and its begin was not acknowledged", f.ticket.Attempt, name.Name)
	}
	for _, q := range w.receiver.requests {
		if q.key == name.Name && q.attempt == f.ticket.Attempt {
			w.violate("I3: attempt %d of %s was sent twice", f.ticket.Attempt, name.Name)
		}
	}
	lapses := f.deadline.Sub(modelEpoch) + w.scenario.settleAfter
	w.receiver.requests = append(w.receiver.requests, request{key: name.Name, attempt: f.ticket.Attempt, executor: executor, lapses: lapses})
	f.request = len(w.receiver.requests)
	w.tell("p%d sends attempt %d of %s", p.number, f.ticket.Attempt, name.Name)
}

func (w *world) answerSteps(i int, name types.NamespacedName, f *modelFlight, late bool, try func(func(*world)), end func(effect.Outcome, error, string)) {
	unknown := effect.Outcome{Kind: v1alpha1.OutcomeUnknown, Message: "no answer"}
	switch w.receiver.requests[f.request-1].state {
	case requestApplied:
		end(effect.Outcome{Kind: v1alpha1.OutcomeApplied}, nil, "applied")
	case requestRefused:
		end(effect.Outcome{Kind: v1alpha1.OutcomeNotApplied, Permanent: w.scenario.refusesForGood, Message: "refused"}, nil, "refused")
	}
	if late {
		end(unknown, nil, "no answer in time")
	} else if w.budget.LoseReply > 0 {
		try(func(w *world) {
			w.budget.LoseReply--
			w.processes[i].submissions.flights.(*modelFlights).all[name].end(unknown, nil)
			w.tell("p%d loses the connection of %s", i, name.Name)
		})
	}
}

// receiverSteps are what the receiver may do with what was sent to it.
func (w *world) receiverSteps(try func(func(*world))) {
	for index, q := range w.receiver.requests {
		if q.state != requestPending {
			continue
		}
		try(func(w *world) { w.apply(index); w.tell("the receiver applies attempt %d of %s", q.attempt, q.key) })
		if w.budget.Refuse > 0 {
			try(func(w *world) {
				w.budget.Refuse--
				w.receiver.requests[index].state = requestRefused
				w.tell("the receiver refuses attempt %d of %s", q.attempt, q.key)
			})
		}
	}
}

// peopleSteps are what clients and people may do.
func (w *world) peopleSteps(try func(func(*world))) {
	for _, original := range w.scenario.submissions {
		key := "submission/" + original.Name
		if w.objects[key] != nil && w.budget.Delete > 0 {
			try(func(w *world) {
				w.budget.Delete--
				delete(w.objects, key)
				w.tell("somebody deletes %s", original.Name)
			})
		}
		if w.objects[key] == nil && w.budget.Recreate > 0 {
			try(func(w *world) {
				w.budget.Recreate--
				w.put(original.DeepCopy())
				w.tell("somebody applies %s again", original.Name)
			})
		}
		if w.objects[key] == nil && w.budget.Reuse > 0 {
			try(func(w *world) {
				w.budget.Reuse--
				other := original.DeepCopy()
				other.Spec.Parameters.Raw = []byte(`{"b":"other"}`)
				w.put(other)
				w.tell("somebody applies %s with another payload", original.Name)
			})
		}
		w.decisionSteps(original.Name, try)
	}
	if w.budget.Edit > 0 {
		try(func(w *world) {
			w.budget.Edit--
			template := w.objects["template/"+w.scenario.template.Name].object.DeepCopyObject().(*v1alpha1.TaskTemplate)
			template.Spec.Effect.HTTP.URL += "/edited"
			template.Generation++
			w.put(template)
			w.tell("somebody edits the template")
		})
	}
}

// decisionSteps are what a person may decide, who looks at the receiver first and tells the truth.
func (w *world) decisionSteps(name string, try func(func(*world))) {
	submission, r := w.submissionOf(name), w.recordOf(name)
	decide := func(action v1alpha1.DecisionAction, spend *int) {
		if *spend == 0 || (submission == nil && r == nil) {
			return
		}
		var attempt int32
		var uid types.UID
		if r != nil {
			attempt, uid = r.Spec.Action.Attempt.Number, r.UID
		} else {
			uid = submission.UID
		}
		try(func(w *world) {
			decision := &v1alpha1.TaskDecision{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%s-%d", name, action, len(w.objects))}}
			decision.Spec = v1alpha1.TaskDecisionSpec{Submission: name, UID: uid, Attempt: attempt, Action: action, Reason: "a test"}
			decision.Status.State = v1alpha1.DecisionPending
			w.put(decision)
			w.spend(action)
			w.tell("a person decides %s of %s, attempt %d", action, name, attempt)
		})
	}
	decide(v1alpha1.DecisionCancel, &w.budget.Cancel)
	if r == nil {
		return
	}
	asks := r.Spec.Action.Reason == v1alpha1.ReasonOutcomeUnknown && !w.mayHappen(name)
	if asks && w.receiver.effects[name] > 0 {
		decide(v1alpha1.DecisionConfirmApplied, &w.budget.Confirm)
	}
	if asks && w.receiver.effects[name] == 0 {
		decide(v1alpha1.DecisionConfirmNotApplied, &w.budget.Confirm)
	}
	if r.Spec.Action.Phase == v1alpha1.PhaseFailed {
		decide(v1alpha1.DecisionRetry, &w.budget.Retry)
	}
}

func (w *world) spend(action v1alpha1.DecisionAction) {
	switch action {
	case v1alpha1.DecisionCancel:
		w.budget.Cancel--
	case v1alpha1.DecisionRetry:
		w.budget.Retry--
	default:
		w.budget.Confirm--
	}
}

func (w *world) submissionOf(name string) *v1alpha1.TaskSubmission {
	if found := w.objects["submission/"+name]; found != nil {
		return found.object.(*v1alpha1.TaskSubmission)
	}
	return nil
}

func (w *world) recordOf(key string) *v1alpha1.TaskRecord {
	if found := w.objects["record/"+v1alpha1.RecordName(key)]; found != nil {
		return found.object.(*v1alpha1.TaskRecord)
	}
	return nil
}
