package harness

import (
	"context"
	"errors"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// Exit is how a container ended.
type Exit struct {
	Code int32
	// Message is the termination message.
	Message string
	// Disrupted says that its node was lost, or that it had to make room.
	Disrupted bool
}

// Play says how a pod's first container ends. It is called once for each pod, in a goroutine of its own.
type Play func(ctx context.Context, pod *corev1.Pod) Exit

// PlayPods does what a kubelet does with the pods of a namespace (empty: of all), but for running anything: it sets
// their status to what play says. It returns at once, and goes on until ctx ends; what it could not do is told to
// failed.
func (c *ControlPlane) PlayPods(ctx context.Context, namespace string, play Play, failed func(error)) error {
	clients, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	pods := clients.CoreV1().Pods(namespace)
	listed, err := pods.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	events, err := pods.Watch(ctx, metav1.ListOptions{ResourceVersion: listed.ResourceVersion})
	if err != nil {
		return err
	}
	k := &kubelet{clients: clients, play: play, failed: failed}
	for i := range listed.Items {
		k.meet(ctx, &listed.Items[i])
	}
	go func() {
		defer events.Stop()
		for event := range events.ResultChan() {
			if pod, ok := event.Object.(*corev1.Pod); ok && event.Type != watch.Deleted {
				k.meet(ctx, pod)
			}
		}
		if ctx.Err() == nil {
			failed(errors.New("the watch on pods ended"))
		}
	}()
	return nil
}

type kubelet struct {
	clients kubernetes.Interface
	play    Play
	failed  func(error)
	known   sync.Map // of pods, by UID
}

// meet plays a pod that it has not met before.
func (k *kubelet) meet(ctx context.Context, pod *corev1.Pod) {
	if _, known := k.known.LoadOrStore(pod.UID, true); known || pod.Status.Phase != corev1.PodPending {
		return
	}
	go func() {
		if err := k.run(ctx, pod); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && ctx.Err() == nil {
			k.failed(err)
		}
	}()
}

func (k *kubelet) run(ctx context.Context, pod *corev1.Pod) error {
	container := corev1.ContainerStatus{Name: pod.Spec.Containers[0].Name, Image: pod.Spec.Containers[0].Image, ImageID: "played", Ready: true, Started: ptr.To(true)}
	container.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.Now()}
	if err := k.set(ctx, pod, corev1.PodRunning, container); err != nil {
		return err
	}
	exit := k.play(ctx, pod)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	phase := corev1.PodSucceeded
	if exit.Code != 0 {
		phase = corev1.PodFailed
	}
	if exit.Disrupted {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByTaintManager"})
	}
	container.Ready = false
	container.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exit.Code, Message: exit.Message, FinishedAt: metav1.Now()}}
	return k.set(ctx, pod, phase, container)
}

// set writes the status over whatever others have changed in between.
func (k *kubelet) set(ctx context.Context, pod *corev1.Pod, phase corev1.PodPhase, container corev1.ContainerStatus) error {
	pods := k.clients.CoreV1().Pods(pod.Namespace)
	for {
		now, err := pods.Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil || now.UID != pod.UID {
			return err
		}
		now.Status.Phase, now.Status.ContainerStatuses, now.Status.Conditions = phase, []corev1.ContainerStatus{container}, pod.Status.Conditions
		if _, err = pods.UpdateStatus(ctx, now, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			return err
		}
	}
}
