package controller

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/expr"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// scenario is one bounded world to explore.
type scenario struct {
	name        string
	processes   int
	coarse      bool // caches are fresh, and a read and the step after it are one
	until       time.Duration
	keys        int
	businessKey bool // all keys have one
	idempotent  bool // the receiver applies a key once
	verifies    bool // it can be asked
	settleAfter time.Duration
	maxChecks   int32
	maxAttempts int32
	// refusesForGood: a refusal is permanent.
	refusesForGood bool
	budget         budget
	schema         string // of the parameters

	// Rules that are switched off.
	off              lifecycle.Off
	noCompareAndSwap bool
	trustsLostWrites bool
	decide           func(lifecycle.Observation) lifecycle.Step

	template    *v1alpha1.TaskTemplate
	submissions []*v1alpha1.TaskSubmission
	plans       *Plans
}

func (s *scenario) submission(name string) *v1alpha1.TaskSubmission {
	for _, submission := range s.submissions {
		if submission.Name == name {
			return submission
		}
	}
	return nil
}

// ready makes the objects of the scenario.
func (s scenario) ready() *scenario {
	d := func(d time.Duration) metav1.Duration { return metav1.Duration{Duration: d} }
	s.settleAfter = tick
	s.template = &v1alpha1.TaskTemplate{ObjectMeta: metav1.ObjectMeta{Name: "t", Generation: 1}}
	spec := &s.template.Spec
	spec.Effect.HTTP = &v1alpha1.HTTPEffect{HTTPRequest: v1alpha1.HTTPRequest{URL: "http://receiver"}}
	spec.Retry = v1alpha1.Retry{MaxAttempts: max(s.maxAttempts, 1), InitialDelay: d(tick), MaxDelay: d(tick)}
	spec.Recovery = v1alpha1.Recovery{Mode: v1alpha1.RecoveryAuto, StuckAfter: d(time.Hour), MaxChecks: max(s.maxChecks, 1)}
	spec.Retention = v1alpha1.Retention{RecordTTL: d(24 * time.Hour), Policy: v1alpha1.RetentionExpire}
	spec.Limits = v1alpha1.Limits{MaxInFlight: 10}
	spec.OnBusinessKeyConflict = v1alpha1.ReturnFirst
	if s.schema != "" {
		spec.ParametersSchema = &v1alpha1.ParametersSchema{OpenAPIV3Schema: apiextensionsv1.JSON{Raw: []byte(s.schema)}}
	}
	if s.businessKey {
		spec.BusinessKey = "${params.b}"
	}
	for i := range max(s.keys, 1) {
		submission := &v1alpha1.TaskSubmission{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("k%d", i+1), Generation: 1}}
		submission.Spec = v1alpha1.TaskSubmissionSpec{TemplateRef: v1alpha1.TemplateRef{Name: "t"}, Parameters: apiextensionsv1.JSON{Raw: []byte(`{"b":"one"}`)}}
		submission.Status = v1alpha1.TaskSubmissionStatus{Phase: v1alpha1.PhasePending, ObservedGeneration: -1}
		s.submissions = append(s.submissions, submission)
	}
	traits := effect.Traits{Timeout: tick, ReplaySafe: s.idempotent, RemembersFor: time.Hour, Verifies: s.verifies, VerifyTimeout: tick, SettleAfter: s.settleAfter}
	s.plans = NewPlans(effect.Compilers{HTTP: func(string, *v1alpha1.TaskTemplateSpec, *expr.Env) (effect.Effect, effect.Traits, field.ErrorList) {
		return modelEffect{}, traits, nil
	}})
	if s.decide == nil {
		s.decide = lifecycle.Decide
	}
	if s.processes == 0 {
		s.processes = 2
	}
	return &s
}

// explore visits every state of a scenario, breadth first, so that the first counterexample is a shortest one. It
// returns how many states there are, and the first that is broken.
func explore(s *scenario, most int) (states int, broken *world) {
	first := newWorld(s)
	seen := map[[2]uint64]struct{}{first.fingerprint(): {}}
	for frontier := []*world{first}; len(frontier) > 0; {
		var next []*world
		for i, w := range frontier {
			frontier[i] = nil
			for _, reached := range w.successors() {
				reached.checkState()
				if reached.broken != "" {
					return len(seen), reached
				}
				state := reached.fingerprint()
				if _, known := seen[state]; known {
					continue
				}
				seen[state] = struct{}{}
				if len(seen) >= most {
					return len(seen), nil
				}
				next = append(next, reached)
			}
		}
		frontier = next
	}
	return len(seen), nil
}

// proved are the worlds that are explored whole. The number of states is part of what is asserted: a space that shrinks
// unseen proves less.
var proved = []struct {
	scenario
	states int
}{
	{scenario{name: "a receiver that can be asked, and a reply that is lost", coarse: true, processes: 1, verifies: true, until: 4 * tick, budget: budget{LoseReply: 1}}, 22797},
	{scenario{name: "a receiver that can be asked, and a kill", coarse: true, processes: 1, verifies: true, until: 4 * tick, budget: budget{Kill: 1}}, 50734},
	{scenario{name: "a receiver that nobody can ask, a kill, a lost reply and a lost acknowledgement", coarse: true, processes: 1, until: 3 * tick, budget: budget{Kill: 1, LoseReply: 1, LoseAnswer: 1}}, 14546},
	{scenario{name: "an idempotent receiver, a lost reply and a refusal", coarse: true, processes: 1, idempotent: true, refusesForGood: true, maxChecks: 2, until: 3 * tick, budget: budget{LoseReply: 1, Refuse: 1}}, 9608},
	{scenario{name: "two operators with stale caches", processes: 2, until: tick, budget: budget{}}, 14514},
	{scenario{name: "two operators, and a begin that is lost or whose answer is", coarse: true, processes: 2, budget: budget{LoseAnswer: 1, LoseWrite: 1}}, 3066},
	{scenario{name: "two operators and a refusal", coarse: true, processes: 2, maxAttempts: 2, until: tick, budget: budget{Refuse: 1}}, 4492},
	{scenario{name: "two operators, two keys and one business key", coarse: true, processes: 2, keys: 2, businessKey: true, budget: budget{}}, 27183},
	{scenario{name: "deleted and applied again, with the same and with another payload", coarse: true, processes: 1, budget: budget{Delete: 2, Recreate: 1, Reuse: 1}}, 335},
	{scenario{name: "cancelled, refused and retried", coarse: true, processes: 1, refusesForGood: true, until: tick, budget: budget{Cancel: 1, Refuse: 1, Retry: 1}}, 4120},
	{scenario{name: "unknown, and confirmed by a person", coarse: true, processes: 1, until: tick, budget: budget{LoseReply: 1, Confirm: 1, Retry: 1}}, 254},
}

const mostStates = 400_000

func TestModel(t *testing.T) {
	total, start := 0, time.Now()
	for _, p := range proved {
		t.Run(p.name, func(t *testing.T) {
			states, broken := explore(p.ready(), mostStates)
			total += states
			switch {
			case broken != nil:
				t.Fatalf("%s\n\n%s", broken.broken, broken.told())
			case states != p.states:
				t.Errorf("%d states were explored, and %d are expected: if the lifecycle was changed on purpose, look at why the space did, and then write the new number here", states, p.states)
			}
		})
	}
	t.Logf("%d states, no violation, in %v", total, time.Since(start).Round(time.Second))
}

func init() { logf.SetLogger(logr.Discard()) }
