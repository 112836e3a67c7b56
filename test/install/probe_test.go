package install_test

import (
	"context"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// answers asks what a probe of the pod asks; without one all is well.
func (s *sandbox) answers(ctx context.Context, probe *corev1.Probe) bool {
	if probe == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	address := s.ports[s.port(probe.HTTPGet.Port.String())]
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+probe.HTTPGet.Path, http.NoBody)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// hurry is how much more often the kubelet that is played looks whether a container lives than the pod says: tests are short.
const hurry = 10

// heart is what the startup probe of a container, and after it the liveness probe, have come to.
type heart struct {
	of     *sandbox
	born   time.Time
	beats  bool // it has started
	next   time.Time
	missed int32
}

// stopped asks, when it is time, and reports whether the container is to be started again. Until it has started it is left
// the time that the pod says; then it is asked so much more often.
func (h *heart) stopped(ctx context.Context) bool {
	container := &h.of.pod.Spec.Containers[0]
	switch probe := container.LivenessProbe; {
	case probe == nil:
		return false
	case !h.beats:
		h.beats = h.of.answers(ctx, probe)
		return !h.beats && time.Since(h.born) > toStart(container)
	case time.Now().Before(h.next):
		return false
	default:
		h.next = time.Now().Add(seconds(probe.PeriodSeconds) / hurry)
		h.missed++
		if h.of.answers(ctx, probe) {
			h.missed = 0
		}
		return h.missed >= probe.FailureThreshold
	}
}

// toStart is how long kubelet leaves a container to answer for the first time.
func toStart(container *corev1.Container) time.Duration {
	if probe := container.StartupProbe; probe != nil {
		return seconds(probe.InitialDelaySeconds + probe.FailureThreshold*probe.PeriodSeconds)
	}
	probe := container.LivenessProbe
	return seconds(probe.InitialDelaySeconds) + endured(probe)
}

// endured is for how long kubelet takes a pod for ready whose probe fails.
func endured(probe *corev1.Probe) time.Duration {
	return seconds((probe.FailureThreshold - 1) * probe.PeriodSeconds)
}

func seconds(n int32) time.Duration { return time.Duration(n) * time.Second }
