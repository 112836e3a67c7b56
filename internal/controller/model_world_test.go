package controller

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/record"
)

// The model check runs the real reconciler (observe, Decide, act, Project) of two processes against a model of the API
// server and of a receiver, and explores every interleaving within the bounds of a scenario.
//
// What is in the model: each API call of a pass is a step of its own; a create, an update and a delete are atomic and
// compare resource versions; a write's answer may be lost, with or without the write having landed; a process's cache
// of submissions and templates shows an old state until it is told; a process may be killed between any two steps, and
// starts again under another identity with nothing in memory; a process may simply not be scheduled while time passes,
// which is also how a stopped one (SIGSTOP, a paused machine) looks; a request may be applied at any time until the
// settling time that the template states, or not at all; its answer may be lost.
//
// What is left out: limits and bulkheads (they only delay), more than two processes and two keys, clocks of different
// speed, and expiry. Time moves in ticks; every duration of a scenario is a multiple of one.
const tick = 5 * time.Second

const modelNamespace = "model"

// world is one state. It is cloned before each step, and never changed afterwards.
type world struct {
	scenario  *scenario
	objects   map[string]*stored // kind/name → object
	lives     map[string]int     // kind/name → how many objects of that name there were
	now       time.Duration
	processes []*process
	receiver  receiver
	acked     map[string]bool // begins that a process was told of
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
}

// budget says how much may still go wrong, and how much people may still do.
type budget struct {
	Kill, LoseAnswer, LoseWrite, LoseReply, Refuse, CannotTell int
	Delete, Recreate, Reuse, Cancel, Confirm, Retry, Release   int
	Edit                                                       int
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

// told returns the story as text, from its beginning.
func (w *world) told() string {
	var lines []string
	for e := w.story; e != nil; e = e.before {
		lines = append(lines, e.text)
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n")
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
		scenario: s, objects: map[string]*stored{}, lives: map[string]int{}, acked: map[string]bool{}, budget: s.budget,
		receiver: receiver{effects: map[string]int{}},
	}
	for i := range s.processes {
		p := &process{number: i, cache: map[string]*stored{}}
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
		case *v1alpha1.TaskTemplate:
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
		Plans:   w.scenario.plans, Executor: fmt.Sprintf("p%d.%d", p.number, p.start), Clock: modelClock{world: w}, Off: w.scenario.off,
	}
	r.memory, r.waiting = newMemory(r.Clock), newWaiting()
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
	c.objects, c.lives, c.acked = maps.Clone(w.objects), maps.Clone(w.lives), maps.Clone(w.acked)
	c.receiver = w.receiver.clone()
	c.processes = make([]*process, len(w.processes))
	for i, p := range w.processes {
		q := *p
		q.cache = maps.Clone(p.cache)
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

var hashSeed = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// fingerprint names the state: two worlds with one fingerprint go on in the same ways.
func (w *world) fingerprint() [2]uint64 {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %v %v|", w.now, w.budget, w.receiver.text())
	for _, key := range sorted(w.objects) {
		b.WriteString(w.objects[key].text)
	}
	fmt.Fprint(&b, w.lives)
	for _, p := range w.processes {
		p.describe(&b)
	}
	text := b.String()
	return [2]uint64{maphash.String(hashSeed[0], text), maphash.String(hashSeed[1], text)}
}

func (p *process) describe(b *strings.Builder) {
	fmt.Fprintf(b, "|p%d.%d ", p.number, p.start)
	for _, key := range sorted(p.cache) {
		fmt.Fprintf(b, "%s@%s/%s ", key, p.cache[key].object.GetUID(), p.cache[key].object.GetResourceVersion())
	}
	actions := p.submissions.memory.actions
	for _, action := range sortedNames(actions) {
		entry := actions[action]
		fmt.Fprintf(b, "m%s %s %s %s ", action.Name, versionOf(entry.record), versionOf(entry.last), entry.settled)
		if entry.sight != nil {
			fmt.Fprintf(b, "%s %s %d %d ", entry.sight.uid, entry.sight.version, entry.sight.attempt, entry.sight.since.Unix())
		}
	}
	flights := p.submissions.flights.(*modelFlights).all
	for _, action := range sortedNames(flights) {
		f := flights[action]
		fmt.Fprintf(b, "f%s %d %v %v %d %d %d %v %d ", action.Name, f.ticket.Attempt, f.ticket.Check, f.ticket.Settled, f.state, f.started.Unix(), f.deadline.Unix(), f.report, f.request)
	}
	if s := p.pass; s != nil {
		fmt.Fprintf(b, "pass %s %v %v %s %v %s %v %s %v ", s.action.Name, s.flight != nil, s.record.Read, versionOf(s.record.Object), s.record.Last != nil, versionOf(s.claim.Object), s.claim.Read, versionOf(s.claim.Holder), s.problem)
		if s.submission != nil {
			fmt.Fprintf(b, "%s/%s ", s.submission.UID, s.submission.ResourceVersion)
		}
		fmt.Fprintf(b, "%s ", s.template.Digest)
		for i := range s.decisions {
			fmt.Fprintf(b, "%s ", s.decisions[i].Name)
		}
	}
}

func versionOf(record *v1alpha1.TaskRecord) string {
	if record == nil {
		return "-"
	}
	return string(record.UID) + "/" + record.ResourceVersion
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

func sortedNames[V any](m map[types.NamespacedName]V) []types.NamespacedName {
	keys := make([]types.NamespacedName, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b types.NamespacedName) int { return strings.Compare(a.Name, b.Name) })
	return keys
}
