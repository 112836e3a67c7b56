package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

const (
	// probePatience is how long a probe waits for what it looks at: kubelet gives up after a second.
	probePatience = 900 * time.Millisecond
	// reachedFor is for how long an API server that answered counts as reachable: probing often costs nothing.
	reachedFor = 5 * time.Second
)

// addProbes serves /healthz, which says that the process lives: what starting it again would not mend does not fail it;
// and /readyz, which says that it can take work, as the leader or as who would be the next.
func addProbes(mgr ctrl.Manager) error {
	server, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return err
	}
	return errors.Join(
		mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.AddReadyzCheck("cache", filled(mgr.GetCache())),
		mgr.AddReadyzCheck("api-server", reachable(func(ctx context.Context) error {
			return unlessOverloaded(server.RESTClient().Get().AbsPath("/version").MaxRetries(0).Do(ctx).Error())
		}, time.Now)),
	)
}

// filled says that the caches are as the API server said.
func filled(caches cache.Cache) healthz.Checker {
	return func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), probePatience)
		defer cancel()
		if !caches.WaitForCacheSync(ctx) {
			return errors.New("the caches are not filled yet")
		}
		return nil
	}
}

// unlessOverloaded takes it for an answer that the API server has too much to do. With no replica ready, it would lose the
// webhooks, too, and nothing be gained.
func unlessOverloaded(err error) error {
	if apierrors.IsTooManyRequests(err) {
		return nil
	}
	return err
}

// reachable says that the API server answers.
func reachable(ask func(context.Context) error, now func() time.Time) healthz.Checker {
	var mu sync.Mutex
	var answered time.Time
	return func(request *http.Request) error {
		mu.Lock()
		defer mu.Unlock()
		if now().Sub(answered) < reachedFor {
			return nil
		}
		ctx, cancel := context.WithTimeout(request.Context(), probePatience)
		defer cancel()
		if err := ask(ctx); err != nil {
			return fmt.Errorf("the API server does not answer: %w", err)
		}
		answered = now()
		return nil
	}
}
