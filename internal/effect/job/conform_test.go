package job

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/go-logr/logr"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
	"github.com/taskonce/taskonce/test/harness"
)

// cluster is a namespace of a real API server, with a Job controller and a kubelet that do at once what they are told.
// (The real Job controller runs under the specs of the whole operator.)
type cluster struct {
	t         *testing.T
	api       client.WithWatch
	namespace string
	behaviour effecttest.Behaviour
	reached   chan struct{}
	once      sync.Once
	applied   int
}

// exits are how the container ends.
var exits = map[effecttest.Behaviour]harness.Exit{
	effecttest.Apply:        {Message: `{"ok": true}`},
	effecttest.Refuse:       {Code: 3, Message: "no such task"},
	effecttest.RefuseSecret: {Code: 3},
	effecttest.LoseBefore:   {Code: 1},
	effecttest.LoseAfter:    {Code: 1},
	effecttest.AnswerLarge:  {Message: `"` + strings.Repeat("x", effect.MaxResultBytes) + `"`},
	effecttest.AnswerEmpty:  {},
	effecttest.AnswerText:   {Message: "thank you"},
	effecttest.TellSecret:   {Message: `{"ok": true}`},
}

func (c *cluster) jobs() []batchv1.Job {
	list := &batchv1.JobList{}
	c.must(c.api.List(context.Background(), list, client.InNamespace(c.namespace)))
	return list.Items
}

func (c *cluster) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// advance ends every Job that was let go on.
func (c *cluster) advance() {
	for _, job := range c.jobs() {
		switch {
		case suspended(&job), finished(&job):
		case c.behaviour == effecttest.Hang:
			c.once.Do(func() { close(c.reached) })
		default:
			c.end(&job, exits[c.behaviour])
		}
	}
}

// end gives a Job the one pod that it has, and the status that follows.
func (c *cluster) end(job *batchv1.Job, exit harness.Exit) {
	if exit.Code == 0 || c.behaviour == effecttest.LoseAfter {
		c.applied++
	}
	ctx := context.Background()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: job.Namespace, GenerateName: job.Name + "-", Labels: map[string]string{batchv1.ControllerUidLabel: string(job.UID)},
	}, Spec: job.Spec.Template.Spec}
	c.must(c.api.Create(ctx, pod))
	pod.Status.Phase = corev1.PodSucceeded
	if exit.Code != 0 {
		pod.Status.Phase = corev1.PodFailed
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exit.Code, Message: exit.Message}}}}
	c.must(c.api.Status().Update(ctx, pod))

	now := metav1.Now()
	job.Status.StartTime = &now
	kinds := []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed}
	if job.Status.Failed = 1; exit.Code == 0 {
		kinds = []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete}
		job.Status.Failed, job.Status.Succeeded, job.Status.CompletionTime = 0, 1, &now
	}
	job.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	job.Status.Terminating, job.Status.Ready = ptr.To[int32](0), ptr.To[int32](0)
	for _, kind := range kinds {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now, LastProbeTime: now, Reason: "Played"})
	}
	c.must(c.api.Status().Update(ctx, job))
}

// recorded plays the part of the record: it names the Job, and remembers that it is there.
type recorded struct {
	*run
	namespace string
	locations map[int32]string
}

func (r *recorded) of(attempt effect.Attempt) effect.Attempt {
	attempt.Namespace, attempt.Record, attempt.Template, attempt.Job = r.namespace, "a-record", "close-order", attempt.Number
	attempt.Location = r.locations[attempt.Job]
	return attempt
}

func (r *recorded) keep(attempt effect.Attempt, outcome effect.Outcome, err error) (effect.Outcome, error) {
	if outcome.Location != "" {
		r.locations[attempt.Number] = outcome.Location
	}
	return outcome, err
}

func (r *recorded) Execute(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
	outcome, err := r.run.Execute(ctx, r.of(attempt))
	return r.keep(attempt, outcome, err)
}

func (r *recorded) Verify(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
	return r.run.Verify(ctx, r.of(attempt))
}

func (r *recorded) Poll(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
	return r.run.Poll(ctx, r.of(attempt))
}

// unreachable is an API server whose machine refuses every connection.
func unreachable(inner client.WithWatch) client.WithWatch {
	return interceptor.NewClient(inner, interceptor.Funcs{Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
		return &url.Error{Op: "Post", URL: "https://api.example", Err: syscall.ECONNREFUSED}
	}})
}

func TestConformance(t *testing.T) {
	log.SetLogger(logr.Discard())
	plane, err := harness.Start(harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	api, err := client.NewWithWatch(plane.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	refusedByCode := effecttest.Expectation{
		Reason: "an exit code that is listed says that there was no effect; whether another try helps is for retry to say", Outcomes: []v1alpha1.Outcome{v1alpha1.OutcomeNotApplied}, Sent: 1,
	}
	effecttest.Conform(t, effecttest.World{
		Name: "job",
		Build: func(t *testing.T, behaviour effecttest.Behaviour) *effecttest.Subject {
			c := &cluster{t: t, api: api, behaviour: behaviour, reached: make(chan struct{})}
			if c.namespace, err = plane.Namespace(t.Context()); err != nil {
				t.Fatal(err)
			}
			options := Options{Client: api, Cache: api}
			if behaviour == effecttest.Unreachable {
				options.Client = unreachable(api)
			}
			made, _ := compiled(t, options, func(s *v1alpha1.TaskTemplateSpec) { s.Effect.Job.NotAppliedExitCodes = []int32{3} })
			return &effecttest.Subject{
				Effect: &recorded{run: made.(*run), namespace: c.namespace, locations: map[int32]string{}},
				Sent:   func() int { return len(c.jobs()) }, Applied: func() int { return c.applied },
				Dedups: effecttest.DedupsAttempts, Advance: c.advance,
				// The operator gives a Job no Secret and reads none: what a container tells of its own is the result.
				Secret: "a value that nobody was given",
				Reached: func(ctx context.Context) error {
					select {
					case <-c.reached:
						return nil
					case <-ctx.Done():
						return errors.New("no container was started")
					}
				},
			}
		},
		Differs: map[string]effecttest.Expectation{
			"refused":           refusedByCode,
			"secret in refusal": refusedByCode,
			"cancelled while sent": {
				Reason: "the Job goes on without the operator, so that a question was broken off says nothing", Outcomes: []v1alpha1.Outcome{v1alpha1.OutcomeUnknown, v1alpha1.OutcomeInProgress}, OrError: true, Sent: 1,
			},
		},
	})
}
