package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/pkg/submit"
	"github.com/taskonce/taskonce/test/bench/report"
	"github.com/taskonce/taskonce/test/harness"
)

// gateway compares submissions through one gateway, which passes tokens on, with the same ones by pkg/submit. Each caller is told
// the outcome before it submits the next.
func gateway() section {
	return section{name: report.SectionGateway, comparisons: func(o Options) []comparison {
		l := load{n: o.Submissions, clients: 32}
		by := func(way func(*world, context.Context, *caller) (call, error)) func(context.Context, *world) (report.Sample, error) {
			return func(ctx context.Context, w *world) (report.Sample, error) { return w.called(ctx, l, way) }
		}
		return []comparison{{name: report.Busy, pairs: o.Pairs, sides: []side{
			{report.Gateway, by((*world).byGateway)}, {report.Library, by((*world).byLibrary)},
		}}}
	}}
}

// caller is an application that may submit in a namespace which has the template.
type caller struct {
	namespace, token string
	client           *submit.Client // with the token
}

// call submits the nth action and returns when its Success is told.
type call func(ctx context.Context, n int) error

// called measures calls, from before each to its answer, after as many for warming up as are made at once.
func (w *world) called(ctx context.Context, l load, by func(*world, context.Context, *caller) (call, error)) (report.Sample, error) {
	c, err := w.caller(ctx)
	if err != nil {
		return report.Sample{}, err
	}
	do, err := by(w, ctx, c)
	if err != nil {
		return report.Sample{}, err
	}
	var mu sync.Mutex
	var took []time.Duration
	one := func(ctx context.Context, i int) error {
		w.expect(submission(c.namespace, i))
		begun := time.Now()
		err := do(ctx, i)
		mu.Lock()
		defer mu.Unlock()
		took = append(took, time.Since(begun))
		return err
	}
	if err := inFlight(ctx, l.clients, l.clients, func(ctx context.Context, i int) error { return one(ctx, l.n+i) }); err != nil {
		return report.Sample{}, err
	}
	took = nil
	sample, err := w.measure(ctx, l.n, func(ctx context.Context) error { return inFlight(ctx, l.clients, l.n, one) })
	percentiles(&sample, took)
	for i := range sample.Requests {
		if r := &sample.Requests[i]; r.Verb == http.MethodGet && r.Resource == "tasksubmissions" {
			r.By = byClient
		}
	}
	if creates := int(sample.Requested(isClientCreate)); err == nil && creates != l.n {
		sample.Faults = append(sample.Faults, fmt.Sprintf("%d submissions were created with %d requests", l.n, creates))
	}
	return sample, err
}

// byLibrary has pkg/submit do it, with the caller's own token, in this process.
func (w *world) byLibrary(_ context.Context, c *caller) (call, error) {
	return func(ctx context.Context, n int) error {
		prepared, err := c.client.PrepareObject(submission(c.namespace, n))
		if err != nil {
			return err
		}
		ended, err := prepared.Wait(ctx)
		if err == nil && ended.Status.Phase != v1alpha1.PhaseSuccess {
			err = fmt.Errorf("%s is %s/%s: %s", ended.Name, ended.Status.Phase, ended.Status.Reason, ended.Status.Message)
		}
		return err
	}, nil
}

// byGateway has a gateway do it.
func (w *world) byGateway(ctx context.Context, c *caller) (call, error) {
	url, err := w.startGateway(ctx)
	if err != nil {
		return nil, err
	}
	browser := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}}
	return func(ctx context.Context, n int) error {
		s := submission(c.namespace, n)
		body, err := json.Marshal(map[string]any{"template": templateName, "parameters": json.RawMessage(s.Spec.Parameters.Raw)})
		if err != nil {
			return err
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/namespaces/"+c.namespace+"/submissions", bytes.NewReader(body))
		if err != nil {
			return err
		}
		request.Header = http.Header{
			"Authorization": {"Bearer " + c.token}, "Content-Type": {"application/json"}, "Idempotency-Key": {`"` + s.Name + `"`}, "Prefer": {"wait=60"},
		}
		response, err := browser.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		told, err := io.ReadAll(response.Body)
		if err == nil && response.StatusCode != http.StatusCreated {
			err = fmt.Errorf("the gateway answers %s: %s", response.Status, told)
		}
		return err
	}, nil
}

// startGateway starts the gateway of this section, which goes on until the next one, and returns its URL.
func (w *world) startGateway(ctx context.Context) (string, error) {
	if w.gateway != nil {
		return w.gatewayURL, nil
	}
	if err := harness.Build(ctx, w.plane.Dir, "", "./cmd/gateway"); err != nil {
		return "", err
	}
	kubeconfig, err := w.plane.GatewayKubeconfig(ctx)
	if err != nil {
		return "", err
	}
	w.gateway, w.gatewayURL, err = harness.Gateway{
		Program: filepath.Join(w.plane.Dir, "gateway"), Kubeconfig: kubeconfig, Log: filepath.Join(w.plane.Dir, "gateway.log"), Flags: []string{"--rate=0"},
	}.Start(ctx)
	return w.gatewayURL, err
}

// caller makes one in a fresh namespace. It returns when the right to submit is in force.
func (w *world) caller(ctx context.Context) (*caller, error) {
	namespace, err := w.plane.Namespace(ctx)
	if err != nil {
		return nil, err
	}
	if err := w.install(ctx, namespace, kind{}); err != nil {
		return nil, err
	}
	const name = "application"
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := w.clients.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "taskonce-submitter"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: name}},
	}
	if _, err := w.clients.RbacV1().RoleBindings(namespace).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	c := &caller{namespace: namespace}
	if c.token, err = w.plane.Token(ctx, namespace, name); err != nil {
		return nil, err
	}
	config := rest.AnonymousClientConfig(w.plane.Config)
	config.BearerToken, config.QPS = c.token, -1
	if c.client, err = submit.Connect(config); err != nil {
		return nil, err
	}
	return c, w.plane.AwaitRight(ctx, harness.AccountUser(namespace, name), harness.Right{
		Namespace: namespace, Group: v1alpha1.GroupVersion.Group, Resource: "tasksubmissions", Verb: "create",
	})
}
