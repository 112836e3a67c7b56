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

// heart is what the liveness probes of a container have come to.
type heart struct {
	of     *sandbox
	began  bool // it has been ready
	next   time.Time
	missed int32
}

// stopped asks, when it is time, and reports whether the container is to be started again. It is asked once it has been ready:
// so much more often, it would not be left the time that the pod leaves it to wait for an API server that has too much to do.
func (h *heart) stopped(ctx context.Context) bool {
	probe := h.of.pod.Spec.Containers[0].LivenessProbe
	h.began = h.began || h.of.isReady()
	if probe == nil || !h.began || time.Now().Before(h.next) {
		return false
	}
	h.next = time.Now().Add(seconds(probe.PeriodSeconds) / hurry)
	if h.of.answers(ctx, probe) {
		h.missed = 0
		return false
	}
	h.missed++
	return h.missed >= probe.FailureThreshold
}

// endured is for how long kubelet takes a pod for ready whose probe fails.
func endured(probe *corev1.Probe) time.Duration {
	return seconds((probe.FailureThreshold - 1) * probe.PeriodSeconds)
}

func seconds(n int32) time.Duration { return time.Duration(n) * time.Second }
