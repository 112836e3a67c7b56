package job

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

// canned is an API server that holds one Job at most, and its pods.
type canned struct {
	client.Client
	job     *batchv1.Job
	pods    []corev1.Pod
	create  error
	patches []string
}

func (c *canned) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	if c.job == nil || key.Name != c.job.Name {
		return apierrors.NewNotFound(schema.GroupResource{Group: "batch", Resource: "jobs"}, key.Name)
	}
	c.job.DeepCopyInto(object.(*batchv1.Job))
	return nil
}

func (c *canned) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.(*corev1.PodList).Items = c.pods
	return nil
}

func (c *canned) Create(context.Context, client.Object, ...client.CreateOption) error {
	return c.create
}

func (c *canned) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
	raw, err := patch.Data(object)
	c.patches = append(c.patches, string(raw))
	return err
}

// theJob is that of attempt(), let go on, with the exit codes 3 and 4 listed.
func theJob(edits ...func(*batchv1.Job)) *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "close-42-a2", Namespace: "shop", UID: "job-uid", Annotations: map[string]string{
		annotationRecord: "the-uid", annotationAttempt: "2", annotationMain: "main", annotationExitCodes: "3,4", annotationLetGo: "true",
	}}}
	job.Spec.Suspend = ptr.To(false)
	for _, edit := range edits {
		edit(job)
	}
	return job
}

func condition(kind batchv1.JobConditionType, reason string) func(*batchv1.Job) {
	return func(job *batchv1.Job) {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, Reason: reason})
	}
}

func complete1(job *batchv1.Job) { condition(batchv1.JobComplete, "")(job); job.Status.Succeeded = 1 }

func failedPods(n int32) func(*batchv1.Job) {
	return func(job *batchv1.Job) {
		condition(batchv1.JobFailed, "BackoffLimitExceeded")(job)
		job.Status.Failed = n
	}
}

// asMade is suspended, as every Job is made.
func asMade(job *batchv1.Job) {
	job.Spec.Suspend = ptr.To(true)
	delete(job.Annotations, annotationLetGo)
}

func strangers(job *batchv1.Job)    { job.Annotations[annotationRecord] = "another record" }
func ofAnother(job *batchv1.Job)    { job.Annotations[annotationAttempt] = "1" }
func byAPerson(job *batchv1.Job)    { job.Spec.Suspend = ptr.To(true) }
func beingDeleted(job *batchv1.Job) { job.DeletionTimestamp = &metav1.Time{Time: time.Now()} }

// exited is a pod whose main container ended; one with another container beside it.
func exited(code int32, message string) corev1.Pod {
	pod := corev1.Pod{}
	pod.Status.Phase = corev1.PodFailed
	if code == 0 {
		pod.Status.Phase = corev1.PodSucceeded
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{
		{Name: "beside", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, Message: `"beside"`}}},
		{Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message}}},
	}
	return pod
}

func disruptedPod(pod corev1.Pod) corev1.Pod {
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
	return pod
}

func neverStarted() corev1.Pod {
	pod := exited(3, "")
	pod.Status.ContainerStatuses[1].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}
	return pod
}

const (
	inProgressKind = v1alpha1.OutcomeInProgress
	appliedKind    = v1alpha1.OutcomeApplied
	notAppliedKind = v1alpha1.OutcomeNotApplied
	unknownKind    = v1alpha1.OutcomeUnknown
)

func TestWhatAJobSays(t *testing.T) {
	const letGo = `{"metadata":{"annotations":{"taskonce.dev/let-go":"true"},"uid":"job-uid"},"spec":{"suspend":false}}`
	for _, c := range []struct {
		reason  string
		job     *batchv1.Job
		pods    []corev1.Pod
		unknown bool // the record does not know of it
		want    effect.Outcome
		says    string
		patches string
	}{
		{"it runs", theJob(), nil, false, effect.Outcome{Kind: inProgressKind, Location: "close-42-a2"}, "runs", ""},
		{"it was made, and the record knows", theJob(asMade), nil, false, effect.Outcome{Kind: inProgressKind, Location: "close-42-a2"}, "runs", letGo},
		{"it was made, and the record does not know", theJob(asMade), nil, true, effect.Outcome{Kind: inProgressKind, Location: "close-42-a2"}, "was made", ""},
		{"a person suspended it", theJob(byAPerson), nil, false, effect.Outcome{Kind: inProgressKind, Location: "close-42-a2"}, "suspended by somebody", ""},
		{"it is being deleted", theJob(asMade, beingDeleted), nil, false, effect.Outcome{Kind: inProgressKind, Location: "close-42-a2"}, "being deleted", ""},
		{"there is none, and there was one", nil, nil, false, effect.Outcome{Kind: unknownKind, Final: true}, "is gone", ""},
		{"there is none, and the record never knew of one", nil, nil, true, effect.Outcome{Kind: notAppliedKind, Final: true}, "did not run", ""},
		{"a stranger's has taken its place", theJob(strangers), nil, false, effect.Outcome{Kind: unknownKind, Final: true}, "is gone", ""},
		{"one of another number", theJob(ofAnother), nil, true, effect.Outcome{Kind: notAppliedKind, Final: true}, "did not run", ""},
		{"complete", theJob(complete1), []corev1.Pod{exited(0, `{"a": 1}`)}, false, effect.Outcome{Kind: appliedKind, Finished: true, Result: []byte(`{"a":1}`)}, "complete", ""},
		{"complete, after a pod that was replaced", theJob(complete1), []corev1.Pod{disruptedPod(exited(137, "no")), exited(0, `1`)}, false, effect.Outcome{Kind: appliedKind, Finished: true, Result: []byte(`1`)}, "complete", ""},
		{"complete, and its pod was deleted", theJob(complete1), nil, false, effect.Outcome{Kind: appliedKind, Finished: true}, "its pod is gone", ""},
		{"a listed exit code", theJob(failedPods(1)), []corev1.Pod{exited(4, "")}, false, effect.Outcome{Kind: notAppliedKind, Finished: true}, "exit code 4", ""},
		{"two pods, both with a listed one", theJob(failedPods(2)), []corev1.Pod{exited(4, ""), exited(3, "")}, false, effect.Outcome{Kind: notAppliedKind, Finished: true}, "exit code 4, exit code 3", ""},
		{"two pods, and one says nothing", theJob(failedPods(2)), []corev1.Pod{exited(3, ""), exited(1, "")}, false, effect.Outcome{Kind: unknownKind, Finished: true}, "exit code 3, exit code 1", ""},
		{"a pod is gone", theJob(failedPods(2)), []corev1.Pod{exited(3, "")}, false, effect.Outcome{Kind: unknownKind, Finished: true}, "a pod is gone", ""},
		{"no pod is left", theJob(failedPods(0)), nil, false, effect.Outcome{Kind: unknownKind, Finished: true}, "BackoffLimitExceeded", ""},
		{"more pods than failed", theJob(failedPods(1)), []corev1.Pod{exited(3, ""), exited(3, "")}, false, effect.Outcome{Kind: unknownKind, Finished: true}, "", ""},
		{"a code that is not listed", theJob(failedPods(1)), []corev1.Pod{exited(1, "")}, false, effect.Outcome{Kind: unknownKind, Finished: true}, "BackoffLimitExceeded, exit code 1", ""},
		{"a listed code of a disrupted pod", theJob(failedPods(1)), []corev1.Pod{disruptedPod(exited(3, ""))}, false, effect.Outcome{Kind: unknownKind, Finished: true}, "disrupted", ""},
		{"another container's listed code", theJob(failedPods(1)), []corev1.Pod{neverStarted()}, false, effect.Outcome{Kind: unknownKind, Finished: true}, "main never ended", ""},
		{"nothing is listed", theJob(failedPods(1), func(job *batchv1.Job) { job.Annotations[annotationExitCodes] = "" }), []corev1.Pod{neverStarted()}, false, effect.Outcome{Kind: unknownKind, Finished: true}, "", ""},
	} {
		t.Run(strings.ReplaceAll(c.reason, " ", "_"), func(t *testing.T) {
			api := &canned{job: c.job, pods: c.pods}
			made, _ := compiled(t, Options{Client: api})
			a := attempt()
			if !c.unknown {
				a.Location = "close-42-a2"
			}
			got, err := made.(effect.Verifier).Verify(t.Context(), a)
			if err != nil || got.Kind != c.want.Kind || got.Final != c.want.Final || got.Finished != c.want.Finished || got.Location != c.want.Location || got.Permanent ||
				string(got.Result) != string(c.want.Result) || !strings.Contains(got.Message, c.says) {
				t.Errorf("got %+v and %v, want %+v that says %q", got, err, c.want, c.says)
			}
			if patches := strings.Join(api.patches, "; "); patches != c.patches {
				t.Errorf("it sent %s", patches)
			}
			if err := effecttest.Check(got); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWhichJobItRanIsNotKnown(t *testing.T) {
	made, _ := compiled(t, Options{Client: &canned{}})
	a := attempt()
	a.Job = 0
	if got, err := made.(effect.Poller).Poll(t.Context(), a); err != nil || got.Kind != unknownKind || !got.Final {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAJobWithoutARecordIsNobodys(t *testing.T) {
	a := attempt()
	a.Record = ""
	if isOf(theJob(func(job *batchv1.Job) { delete(job.Annotations, annotationRecord) }), a) {
		t.Error("an attempt without a record owns a Job without one")
	}
}

func TestAMessageThatTheKubeletCut(t *testing.T) {
	api := &canned{job: theJob(complete1), pods: []corev1.Pod{exited(0, `"`+strings.Repeat("x", maxTermination-1))}}
	made, _ := compiled(t, Options{Client: api})
	got, err := made.(effect.Verifier).Verify(t.Context(), attempt())
	if err := errors.Join(err, effecttest.ResultNotes("too large")(got)); err != nil || !strings.Contains(string(got.Result), `"size":`+strconv.Itoa(maxTermination)) {
		t.Errorf("%v: %s", err, got.Result)
	}
}

func TestWhatARefusedCreateMeans(t *testing.T) {
	jobs := schema.GroupResource{Group: "batch", Resource: "jobs"}
	for _, c := range []struct {
		reason    string
		err       error
		want      v1alpha1.Outcome // empty: an error, and nothing was made
		permanent bool
		after     time.Duration
	}{
		{"invalid", apierrors.NewInvalid(schema.GroupKind{Kind: "Job"}, "a", nil), notAppliedKind, true, 0},
		{"malformed", apierrors.NewBadRequest("no"), notAppliedKind, true, 0},
		{"too large", apierrors.NewRequestEntityTooLargeError("no"), notAppliedKind, true, 0},
		{"no right, or a quota", apierrors.NewForbidden(jobs, "a", errors.New("exceeded quota")), "", false, 0},
		{"not authenticated", apierrors.NewUnauthorized("no"), "", false, 0},
		{"the namespace is gone", apierrors.NewNotFound(jobs, "a"), notAppliedKind, false, 0},
		{"the API server is busy", apierrors.NewTooManyRequests("later", 7), notAppliedKind, false, 7 * time.Second},
		{"it timed out", apierrors.NewServerTimeout(jobs, "create", 1), unknownKind, false, 0},
		{"a webhook failed", apierrors.NewInternalError(errors.New("failed calling webhook")), unknownKind, false, 0},
		{"the connection died", errors.New("connection reset by peer"), unknownKind, false, 0},
		{"it is there already, and gone when it is read", apierrors.NewAlreadyExists(jobs, "a"), unknownKind, false, 0},
	} {
		made, _ := compiled(t, Options{Client: &canned{create: c.err}})
		got, err := made.Execute(t.Context(), attempt())
		var missing *effect.DependencyError
		if got.Kind != c.want || got.Permanent != c.permanent || got.RetryAfter != c.after || errors.As(err, &missing) != (c.want == "") {
			t.Errorf("%s: %+v, %v", c.reason, got, err)
		}
	}
}

func TestRunsAsFarAsTheCacheTells(t *testing.T) {
	for _, c := range []struct {
		reason string
		job    *batchv1.Job
		want   bool
	}{
		{"it runs", theJob(), true},
		{"it waits to be let go on", theJob(asMade), false},
		{"it finished", theJob(complete1), false},
		{"it failed", theJob(failedPods(1)), false},
		{"the cache does not hold it", nil, false},
		{"a person suspended it", theJob(byAPerson), true},
	} {
		made, _ := compiled(t, Options{Cache: &canned{job: c.job}})
		if got := made.(effect.Follower).Runs("shop", "close-42-a2"); got != c.want {
			t.Errorf("%s: %t", c.reason, got)
		}
	}
}
