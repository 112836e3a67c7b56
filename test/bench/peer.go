package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/utils/ptr"

	"github.com/taskonce/taskonce/test/bench/report"
)

// peer compares with as many Jobs on the real Job controller, whose pods are finished as soon as they are there: by one
// write each, which is less than a scheduler and a kubelet would make.
func peer() section {
	return section{name: report.SectionPeer, setting: setting{jobs: true}, comparisons: func(o Options) []comparison {
		compare := func(name string, l load) comparison {
			return comparison{name: name, pairs: o.Pairs, profiled: l.burst, sides: []side{
				{report.Operator, func(ctx context.Context, w *world) (report.Sample, error) { return w.through(ctx, l) }},
				{report.Jobs, func(ctx context.Context, w *world) (report.Sample, error) { return w.jobs(ctx, l) }},
			}}
		}
		// A Job is told finished a second later than it is, so clients that wait for that would measure this alone.
		return []comparison{
			compare(report.AtOnce, load{n: o.Submissions / 2, clients: 32, burst: true}),
			compare(report.TenASec, load{n: o.Gentle, every: time.Second / gentleRate}),
		}
	}}
}

// jobs measures Jobs, from the first create to the last that a watch shows as complete.
func (w *world) jobs(ctx context.Context, l load) (report.Sample, error) {
	namespace, err := w.plane.Namespace(ctx)
	if err != nil {
		return report.Sample{}, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	kubelet, err := w.finishPods(ctx, namespace)
	if err != nil {
		return report.Sample{}, err
	}
	jobs := w.clients.BatchV1().Jobs(namespace)
	watching, err := watchFrom(ctx, jobs)
	if err != nil {
		return report.Sample{}, err
	}
	defer watching.Stop()
	complete := &completions{begun: make([]time.Time, l.n)}
	sample, err := w.measure(ctx, l.n, func(ctx context.Context) error {
		return alongside(ctx, kubelet, func(ctx context.Context) error {
			creates := make(chan error, 1)
			go func() {
				creates <- paced(ctx, l.clients, l.n, l.every, func(ctx context.Context, i int) error {
					complete.begin(i)
					_, err := jobs.Create(ctx, job(namespace, i), metav1.CreateOptions{})
					return err
				})
			}()
			return errors.Join(complete.await(ctx, watching), <-creates)
		})
	})
	if err != nil {
		return sample, err
	}
	percentiles(&sample, complete.took)
	for i := range sample.Requests {
		sample.Requests[i].By = whoseOfJob(sample.Requests[i])
	}
	return sample, nil
}

// listWatcher is a client of one kind in one namespace.
type listWatcher[L metav1.ListInterface] interface {
	List(ctx context.Context, options metav1.ListOptions) (L, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

// watchFrom returns a watch of what comes from now on. It goes on where the API server ends it, as it does with who is
// too slow.
func watchFrom[L metav1.ListInterface](ctx context.Context, of listWatcher[L]) (watch.Interface, error) {
	now, err := of.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, err
	}
	return watchtools.NewRetryWatcherWithContext(ctx, now.GetResourceVersion(), &cache.ListWatch{WatchFuncWithContext: of.Watch})
}

// whoseOfJob says who makes a request of a Job's life.
func whoseOfJob(c report.Count) string {
	switch {
	case c.Verb == "POST" && c.Resource == "jobs":
		return byClient
	case c.Verb == "PUT" && c.Resource == "pods/status":
		return "kubelet"
	default:
		return report.Jobs
	}
}

func job(namespace string, i int) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: jobName(i)},
		Spec: batchv1.JobSpec{
			BackoffLimit: ptr.To[int32](0),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "work", Image: "registry.example/work:1", Args: []string{fmt.Sprintf("stu-%06d", i)}}},
			}},
		},
	}
}

func jobName(i int) string { return fmt.Sprintf("task-42-stu-%06d-v3", i) }

// finishPods returns what lets each pod of a namespace succeed.
func (w *world) finishPods(ctx context.Context, namespace string) (func(context.Context) error, error) {
	pods := w.clients.CoreV1().Pods(namespace)
	watching, err := watchFrom(ctx, pods)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		defer watching.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case event, ok := <-watching.ResultChan():
				if !ok {
					return errors.New("the watch of pods ended")
				}
				if event.Type != watch.Added {
					continue
				}
				go func() {
					_, err := pods.UpdateStatus(ctx, succeeded(event.Object.(*corev1.Pod)), metav1.UpdateOptions{})
					if err != nil && !apierrors.IsConflict(err) && ctx.Err() == nil {
						panic(err) // the Job would never be complete
					}
				}()
			}
		}
	}, nil
}

func succeeded(pod *corev1.Pod) *corev1.Pod {
	pod.Status.Phase = corev1.PodSucceeded
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: pod.Spec.Containers[0].Name, Image: pod.Spec.Containers[0].Image, ImageID: "played",
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.Now()}},
	}}
	return pod
}

// completions is when Jobs were created and complete. Each entry of begun is written before its Job exists.
type completions struct {
	begun []time.Time
	took  []time.Duration
}

func (c *completions) begin(i int) { c.begun[i] = time.Now() }

// await returns when all are complete.
func (c *completions) await(ctx context.Context, watching watch.Interface) error {
	seen := map[string]bool{}
	for len(seen) < len(c.begun) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case event, ok := <-watching.ResultChan():
			if !ok {
				return errors.New("the watch of Jobs ended")
			}
			job, ok := event.Object.(*batchv1.Job)
			if !ok || job.Status.Succeeded == 0 || job.Status.CompletionTime == nil || seen[job.Name] {
				continue
			}
			seen[job.Name] = true
			var i int
			if _, err := fmt.Sscanf(job.Name, "task-42-stu-%06d-v3", &i); err != nil {
				return err
			}
			c.took = append(c.took, time.Since(c.begun[i]))
		}
	}
	return nil
}
