package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/taskonce/taskonce/test/harness"
)

// container is what a pod's container does that no kubelet runs here: it waits until it may go on, calls the address in
// its first argument under the key in its environment, and leaves the answer as its termination message.
type container struct {
	begun     chan struct{} // closed when the first one has begun
	beginOnce sync.Once
	goOn      chan struct{} // closed when they may call
}

func newContainer() *container {
	return &container{begun: make(chan struct{}), goOn: make(chan struct{})}
}

func (c *container) run(ctx context.Context, pod *corev1.Pod) harness.Exit {
	c.beginOnce.Do(func() { close(c.begun) })
	select {
	case <-c.goOn:
	case <-ctx.Done():
		return harness.Exit{Code: 1}
	}
	message, err := call(ctx, &pod.Spec.Containers[0])
	if err != nil {
		return harness.Exit{Code: 1, Message: err.Error()}
	}
	return harness.Exit{Message: message}
}

func call(ctx context.Context, c *corev1.Container) (string, error) {
	environment := map[string]string{}
	for _, variable := range c.Env {
		environment[variable.Name] = variable.Value
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Args[0], bytes.NewBufferString(environment["TASKONCE_PARAMETERS"]))
	if err != nil {
		return "", err
	}
	request.Header.Set("Idempotency-Key", strconv.Quote(environment["TASKONCE_IDEMPOTENCY_KEY"]))
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("the receiver answered %s", answer.Status)
	}
	return string(body), err
}
