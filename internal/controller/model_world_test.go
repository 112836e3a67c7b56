package controller

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/record"
)

// The model check runs the real reconciler (observe, Decide, act, Project) of one or two processes against a model of
// the API server and of a receiver, and explores every interleaving within the bounds of a scenario. There is no second
// copy of the operator's code: what a process does is what Submissions does.
//
// What is in the model:
//   - The API server: a create, an update and a delete are atomic and compare UIDs and resource versions; a write's
//     answer may be lost, with or without the write having landed. What the CRDs' transition rules would refuse is a
//     violation: the operator must not rest on them.
//   - A process: it may be killed between any two steps, and starts again under another identity with nothing in
//     memory. It may simply not be scheduled while time passes, which is also how one looks that is stopped past its
//     lease (SIGSTOP, a paused machine) and goes on. There is no lease: every process is always active. In scenarios
//     with stale caches, its cache of submissions, templates and decisions shows an old state until it is told.
//   - The receiver, of four kinds: plain, answering (it can be asked), idempotent (for a time or for ever) and
//     transactional (effect and key are one transaction, and it can be asked). A request may be applied at any time
//     until the settling time that the template states (at any time at all where none is stated), or not at all; its
//     answer may be lost before or after.
//   - People: they delete (at once or with a finalizer in between), apply again, apply another payload, edit and delete
//     the template, suspend and resume it, delete a record, restore one from a backup, approve, cancel, retry, release,
//     and say what became of an attempt; they look at the receiver first and tell the truth. Of one that is transactional they may say "not
//     applied" at any time.
//   - Time: it moves in ticks, and every duration of a scenario is a multiple of one.
//
// What is assumed: the settling time and the memory of keys that a template states are true; nobody deletes a record
// before the status speaks of its attempts, for that is forgetting; a backup is restored some time after it was made,
// and where it may lack a claim, after the time-out and the grace of the attempt in it; a finished record whose time is over
// may go at any moment, and then its key is another action.
//
// What is checked: see model_invariant_test.go for the invariants of each state and step, and model_end_test.go for I9,
// that what is begun comes to an end, or to a person, once nothing more goes wrong.
//
// What is left out: more than two processes and two keys; limits and bulkheads (they only delay); wake-ups (a process
// may look at anything at any moment, so a wake-up that is never sent is not found here); receivers that take an action
// on and finish it later (InProgress), among them Jobs; refused credentials; the removal of finished submissions by the
// operator; clocks of different speed. The reads and
// writes of one step of a pass (a live look and a delete, a record and its second try without the result) are one
// step here; the steps of a pass are interleaved with everything.
const tick = 5 * time.Second

const modelNamespace = "model"

// world is one state. It is cloned before each step, and never changed afterwards.
type world struct {
	scenario  *scenario
	objects   map[string]*stored // kind/name → object
	lives     map[string]int     // kind/name → how many objects of that name there were
	backup    map[string]*stored // kind/name → as it was when it was backed up
	now       time.Duration
	processes []*process
	requests  []request       // at the receiver
	acked     map[string]bool // begins that a process was told of
	released  map[string]bool // keys whose business key was given free by a person
	asked     map[string]time.Duration
	budget    budget
	story     *event
	broken    string // the invariant that does not hold, and why
}

// process is one operator process.
type process struct {
	number      int
	start       int
	submissions *Submissions
	pass        *subject           // a pass under way; nil: none
	cache       map[string]*stored // what its watches have shown
	fault       apiFault           // of the next write
	refused     bool               // this step's write was refused
	heard       map[string]bool    // keys of which it was told that they are applied
}

// budget says how much may still go wrong, and how much people may still do.
type budget struct {
	Kill, LoseAnswer, LoseWrite, LoseReply, Refuse, CannotTell   int
	Delete, Terminate, Recreate, Reuse, Edit, Withdraw           int
	Backup, Restore, Forget                                      int
	Approve, Cancel, ConfirmApplied, ConfirmNot, Retry, Releases int
	Suspend, Resume                                              int
}

// event is one step of the story that led to a state.
type event struct {
	before *event
	text   string
}

func (w *world) tell(format string, arguments ...any) {
	w.story = &event{before: w.story, text: fmt.Sprintf("%3ds  ", w.now/time.Second) + fmt.Sprintf(format, arguments...)}
}

func (w *world) violate(format string, arguments ...any) {
	if w.broken == "" {
		w.broken = fmt.Sprintf(format, arguments...)
	}
}

// told returns the story, from its beginning. Of times that pass without anything else it tells the last.
func (w *world) told() []string {
	var lines []string
	later := ""
	for e := w.story; e != nil; e = e.before {
		if !strings.HasSuffix(e.text, timePasses) || !strings.HasSuffix(later, timePasses) {
			lines = append(lines, e.text)
		}
		later = e.text
	}
	slices.Reverse(lines)
	return lines
}

const timePasses = "  time passes"

// counterexample is what broke, and how it came to that.
func (w *world) counterexample() string {
	return w.broken + "\n\n" + strings.Join(w.told(), "\n")
}

var modelEpoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// modelClock is the clock of every process: they differ only in when they are scheduled.
type modelClock struct {
	clock.Clock
	world *world
}

func (c modelClock) Now() time.Time                  { return modelEpoch.Add(c.world.now) }
func (c modelClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

func newWorld(s *scenario) *world {
	w := &world{
		scenario: s, objects: map[string]*stored{}, lives: map[string]int{}, backup: map[string]*stored{},
		acked: map[string]bool{}, released: map[string]bool{}, asked: map[string]time.Duration{}, budget: s.budget,
	}
	for i := range s.processes {
		p := &process{number: i, cache: map[string]*stored{}, heard: map[string]bool{}}
		p.submissions = w.operator(p, nil)
		w.processes = append(w.processes, p)
	}
	w.put(s.template.DeepCopy())
	for _, submission := range s.submissions {
		w.put(submission.DeepCopy())
	}
	for _, p := range w.processes {
		maps.Copy(p.cache, w.cached())
	}
	return w
}

// cached is what an up-to-date cache holds.
func (w *world) cached() map[string]*stored {
	all := map[string]*stored{}
	for key, object := range w.objects {
		switch o := object.object.(type) {
		case *v1alpha1.TaskSubmission:
			if !o.Status.Phase.Terminal() {
				all[key] = object
			}
		case *v1alpha1.TaskTemplate, *v1alpha1.TaskDecision:
			all[key] = object
		}
	}
	return all
}

// operator makes the real reconciler of a process in this world; with the memory of another one, where given.
func (w *world) operator(p *process, from *Submissions) *Submissions {
	r := &Submissions{
		Client: &modelClient{world: w, process: p}, Live: &modelClient{world: w, process: p, live: true},
		Records: &record.Store{Client: &modelClient{world: w, process: p, live: true}},
		Plans:   w.scenario.plansOf(1), Executor: fmt.Sprintf("p%d.%d", p.number, p.start), Clock: modelClock{world: w}, Off: w.scenario.off,
	}
	r.memory, r.waiting, r.Receivers = newMemory(r.Clock), newWaiting(), NewReceivers(r.Clock)
	r.decide, r.jitter = w.scenario.decide, func() float64 { return 0 }
	flights := &modelFlights{world: w, process: p, all: map[types.NamespacedName]*modelFlight{}}
	r.flights = flights
	if from != nil {
		for action, entry := range from.memory.actions {
			copied := *entry
			r.memory.actions[action] = &copied
		}
		for action, f := range from.flights.(*modelFlights).all {
			copied := *f
			copied.owner = flights
			flights.all[action] = &copied
		}
	}
	return r
}

// clone returns a copy that shares only what never changes.
func (w *world) clone() *world {
	c := *w
	c.objects, c.lives, c.backup = maps.Clone(w.objects), maps.Clone(w.lives), maps.Clone(w.backup)
	c.acked, c.released, c.asked = maps.Clone(w.acked), maps.Clone(w.released), maps.Clone(w.asked)
	c.requests = slices.Clone(w.requests)
	c.processes = make([]*process, len(w.processes))
	for i, p := range w.processes {
		q := *p
		q.cache, q.heard = maps.Clone(p.cache), maps.Clone(p.heard)
		q.submissions = c.operator(&q, p.submissions)
		if p.pass != nil {
			pass := *p.pass
			if pass.flight != nil {
				pass.flight = q.submissions.flights.Lookup(pass.action)
			}
			q.pass = &pass
		}
		c.processes[i] = &q
	}
	return &c
}

func (w *world) names() []types.NamespacedName {
	var names []types.NamespacedName
	for _, submission := range w.scenario.submissions {
		names = append(names, types.NamespacedName{Namespace: modelNamespace, Name: submission.Name})
	}
	return names
}

// looksAt is what a process may look at.
func (w *world) looksAt(i int) []types.NamespacedName {
	if w.scenario.apart {
		return w.names()[i : i+1]
	}
	return w.names()
}

func (w *world) submissionOf(name string) *v1alpha1.TaskSubmission {
	if found := w.objects["submission/"+name]; found != nil {
		return found.object.(*v1alpha1.TaskSubmission)
	}
	return nil
}

func (w *world) recordOf(name string) *v1alpha1.TaskRecord {
	if found := w.objects[w.scenario.recordKeys[name]]; found != nil {
		return found.object.(*v1alpha1.TaskRecord)
	}
	return nil
}

func (w *world) templateOf() *v1alpha1.TaskTemplate {
	if found := w.objects["template/"+w.scenario.template.Name]; found != nil {
		return found.object.(*v1alpha1.TaskTemplate)
	}
	return nil
}
