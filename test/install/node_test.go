package install_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/test/harness"
)

// ours is the repository of the image that node runs. Containers of any other end at once, and well.
const ours = "ghcr.io/taskonce/taskonce"

// node does what scheduler and kubelet do: it binds every pod, runs its container, looks whether it is ready and alive, starts it
// again when it ends or is not, and stops it, after its preStop, when the pod is deleted.
type node struct {
	plane   *harness.ControlPlane
	clients kubernetes.Interface
	image   *image
	dir     string
	failed  func(error)

	mu   sync.Mutex
	pods map[types.UID]*sandbox
	// front is where pods reach the API server.
	front *front
	// stopped is how many pods were deleted while their processes ran.
	stopped atomic.Int32
}

// lag is how long others go on leading to a pod that was deleted, as a slow kube-proxy does.
const lag = 2 * time.Second

// sandbox is a pod on the node.
type sandbox struct {
	pod     *corev1.Pod
	ports   map[int32]string // the address of each of its ports
	deleted chan struct{}
	gone    sync.Once
	left    time.Time // when it was deleted, once that is said

	mu      sync.Mutex
	process *process // nil while it does not run
	ready   bool
	lapses  int // how often it was ready no more, and ran
}

func (n *node) start(ctx context.Context) error {
	n.pods = map[types.UID]*sandbox{}
	informer := informers.NewSharedInformerFactory(n.clients, 0).Core().V1().Pods().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { n.meet(ctx, object.(*corev1.Pod)) },
		UpdateFunc: func(_, object any) { n.meet(ctx, object.(*corev1.Pod)) },
		DeleteFunc: func(object any) {
			if pod, ok := object.(*corev1.Pod); ok {
				n.remove(pod.UID)
			}
		},
	})
	go informer.RunWithContext(ctx)
	return err
}

func (n *node) meet(ctx context.Context, pod *corev1.Pod) {
	n.mu.Lock()
	defer n.mu.Unlock()
	known := n.pods[pod.UID]
	switch {
	case known == nil && pod.Status.Phase == corev1.PodPending:
		s := &sandbox{pod: pod.DeepCopy(), deleted: make(chan struct{}), ports: map[int32]string{}}
		n.pods[pod.UID] = s
		go func() {
			if err := n.run(ctx, s); err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) {
				n.failed(fmt.Errorf("the pod %s: %w", pod.Name, err))
			}
		}()
	case known != nil && pod.DeletionTimestamp != nil:
		known.leave()
	}
}

func (n *node) remove(uid types.UID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s := n.pods[uid]; s != nil {
		s.leave()
		delete(n.pods, uid)
	}
}

// run takes a pod from its creation to its end.
func (n *node) run(ctx context.Context, s *sandbox) error {
	err := n.clients.CoreV1().Pods(s.pod.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.pod.Namespace, Name: s.pod.Name, UID: s.pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: "node"},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsConflict(err) {
		return err
	}
	if !strings.HasPrefix(s.pod.Spec.Containers[0].Image, ours) {
		if err := n.status(ctx, s, corev1.PodRunning, running(false, 0)); err != nil {
			return err
		}
		return n.ended(ctx, s, 0, `{"played": true}`)
	}
	// A volume may come later than the pod.
	err = wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		err := n.prepare(ctx, s)
		return err == nil, client.IgnoreNotFound(err)
	})
	if err != nil {
		return err
	}
	for restarts := int32(0); ; restarts++ {
		again, err := n.once(ctx, s, restarts)
		if err != nil || !again {
			return err
		}
		if err := n.status(ctx, s, corev1.PodRunning, running(false, restarts)); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.deleted:
			return n.forget(s)
		case <-time.After(min(time.Duration(restarts)*time.Second, 10*time.Second)): // it backs off
		}
	}
}

// once runs the container once. It says whether it is to be run again.
func (n *node) once(ctx context.Context, s *sandbox, restarts int32) (again bool, err error) {
	p, err := n.launch(s, restarts)
	if err != nil {
		return false, err
	}
	s.set(p, false)
	defer s.set(nil, false)
	if err := n.status(ctx, s, corev1.PodRunning, running(false, restarts)); err != nil {
		p.kill()
		return false, err
	}
	ticks := time.NewTicker(50 * time.Millisecond)
	defer ticks.Stop()
	heart := &heart{of: s, born: time.Now()}
	var answered time.Time // a probe, last
	for {
		select {
		case <-ctx.Done():
			p.kill()
			return false, ctx.Err()
		case <-s.deleted:
			return false, n.stop(s, p)
		case <-p.done:
			if s.pod.Spec.RestartPolicy == corev1.RestartPolicyNever {
				return false, n.ended(ctx, s, int32(p.exitCode()), "")
			}
			return true, nil
		case <-ticks.C:
			if heart.stopped(ctx) {
				n.failed(fmt.Errorf("the pod %s is started again: its liveness probe failed", s.pod.Name))
				p.kill()
				continue
			}
			readiness := s.pod.Spec.Containers[0].ReadinessProbe
			ready := s.answers(ctx, readiness)
			if ready {
				answered = time.Now()
			}
			ready = ready || s.isReady() && time.Since(answered) < endured(readiness)
			if ready != s.isReady() {
				s.set(p, ready)
				if err := n.status(ctx, s, corev1.PodRunning, running(ready, restarts)); err != nil {
					p.kill()
					return false, err
				}
			}
		}
	}
}

// stop ends a container as the pod says: with a sleep, a signal, and patience. Then, and when everybody has heard of it, the
// pod is gone.
func (n *node) stop(s *sandbox, p *process) error {
	n.stopped.Add(1)
	heard := time.After(lag)
	patience := time.After(time.Duration(ptr.Deref(s.pod.Spec.TerminationGracePeriodSeconds, 30)) * time.Second)
	select {
	case <-p.done:
	case <-time.After(s.sleepsBeforeStop()):
	}
	_ = p.signal(syscall.SIGTERM) // an error means that it has ended
	select {
	case <-p.done:
	case <-patience:
		p.kill()
		n.failed(fmt.Errorf("the pod %s did not end within its grace period", s.pod.Name))
	}
	<-heard
	return n.forget(s)
}

// sleepsBeforeStop is how long the pod's preStop sleeps.
func (s *sandbox) sleepsBeforeStop() time.Duration {
	if hook := s.pod.Spec.Containers[0].Lifecycle; hook != nil && hook.PreStop != nil && hook.PreStop.Sleep != nil {
		return time.Duration(hook.PreStop.Sleep.Seconds) * time.Second
	}
	return 0
}

func (n *node) forget(s *sandbox) error {
	err := n.clients.CoreV1().Pods(s.pod.Namespace).Delete(context.Background(), s.pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: ptr.To(int64(0)), Preconditions: &metav1.Preconditions{UID: &s.pod.UID},
	})
	if apierrors.IsConflict(err) {
		return nil // another pod of that name
	}
	return err
}

// ended says how a container that is not started again has ended, and waits for the pod's end.
func (n *node) ended(ctx context.Context, s *sandbox, code int32, message string) error {
	phase := corev1.PodSucceeded
	if code != 0 {
		phase = corev1.PodFailed
	}
	terminated := corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message, FinishedAt: metav1.Now()}}}
	if err := n.status(ctx, s, phase, terminated); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case <-s.deleted:
		return n.forget(s)
	}
}

func running(ready bool, restarts int32) corev1.ContainerStatus {
	return corev1.ContainerStatus{Ready: ready, RestartCount: restarts, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}}
}

func (n *node) status(ctx context.Context, s *sandbox, phase corev1.PodPhase, container corev1.ContainerStatus) error {
	container.Name, container.Image = s.pod.Spec.Containers[0].Name, s.pod.Spec.Containers[0].Image
	is := corev1.ConditionFalse
	if container.Ready {
		is = corev1.ConditionTrue
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": s.pod.UID}, "status": corev1.PodStatus{
		Phase: phase, ContainerStatuses: []corev1.ContainerStatus{container},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: is, LastTransitionTime: metav1.Now()}, {Type: corev1.ContainersReady, Status: is, LastTransitionTime: metav1.Now()}},
	}})
	if err != nil {
		return err
	}
	_, err = n.clients.CoreV1().Pods(s.pod.Namespace).Patch(ctx, s.pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// port is the number of a port that has a name.
func (s *sandbox) port(name string) int32 {
	for _, port := range s.pod.Spec.Containers[0].Ports {
		if port.Name == name {
			return port.ContainerPort
		}
	}
	return 0
}

func (s *sandbox) set(p *process, ready bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready && p != nil && !ready {
		s.lapses++
	}
	s.process, s.ready = p, ready
}

// runs is the process of the pod; nil where none runs.
func (s *sandbox) runs() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process
}

func (s *sandbox) isReady() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready
}

// leave says that the pod was deleted.
func (s *sandbox) leave() {
	s.gone.Do(func() {
		s.left = time.Now()
		close(s.deleted)
	})
}

// isLeaving reports whether the pod was deleted.
func (s *sandbox) isLeaving() bool {
	select {
	case <-s.deleted:
		return true
	default:
		return false
	}
}

// isLedTo reports whether connections to a Service may end at the pod: it is ready, or leaves and not everybody has heard.
func (s *sandbox) isLedTo() bool { return s.isReady() && (!s.isLeaving() || time.Since(s.left) < lag) }

// named returns the sandboxes of a namespace's pods whose process runs.
func (n *node) named(namespace string) []*sandbox {
	n.mu.Lock()
	defer n.mu.Unlock()
	var found []*sandbox
	for _, s := range n.pods {
		if s.pod.Namespace == namespace && s.runs() != nil {
			found = append(found, s)
		}
	}
	return found
}

// logs are the paths of the logs of everything that ran.
func (n *node) logs() []string {
	found, _ := filepath.Glob(filepath.Join(n.dir, "*.log"))
	return found
}
