package gateway_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/taskonce/taskonce/api/v1alpha1"
	pages "github.com/taskonce/taskonce/internal/gateway/page"
)

// line is what a page reaches the API server through. It can be cut: then what is open ends, and nothing new begins.
type line struct {
	next http.RoundTripper

	mu  sync.Mutex
	up  context.Context
	cut context.CancelFunc
}

func (l *line) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.up, l.cut = context.WithCancel(context.Background())
}

// RoundTrip implements http.RoundTripper.
func (l *line) RoundTrip(request *http.Request) (*http.Response, error) {
	l.mu.Lock()
	up := l.up
	l.mu.Unlock()
	if up.Err() != nil {
		return nil, errors.New("the line is cut")
	}
	ctx, end := context.WithCancel(request.Context())
	context.AfterFunc(up, end)
	return l.next.RoundTrip(request.WithContext(ctx))
}

// TestPageWhileTheAPIServerIsAway: it goes on showing what it knew, and as of when; and then it catches up.
func TestPageWhileTheAPIServerIsAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mayRead()
	config, err := clientcmd.BuildConfigFromFlags("", installation.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	reach := &line{}
	reach.mend()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		reach.next = next
		return reach
	})
	within, err := pages.New(config, []string{w.namespace})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = within.Run(t.Context()) }()
	served := httptest.NewServer(pages.Handler(within.State()))
	defer served.Close()
	await := func(what string, wanted func(shown) bool) (found shown) {
		t.Helper()
		for deadline := time.Now().Add(2 * time.Minute); ; {
			var all string
			if _, found, all = w.look(served.URL, ""); wanted(found) {
				return found
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: it shows %s", what, all)
			}
			<-time.After(50 * time.Millisecond)
		}
	}
	w.template("approved", "/plain/points", func(s *v1alpha1.TaskTemplateSpec) { s.Approval = &v1alpha1.Approval{Required: true} })
	w.send(installation.passing, w.token, submits("asks", "approved", with("Prefer", "wait=0")))
	asks := func(s shown) bool { return slices.Equal(names(s.Waiting.Items), []string{"asks"}) }
	await("before", func(s shown) bool { return asks(s) && s.Trouble == "" })
	reach.cut()
	cut := await("the line is cut", func(s shown) bool { return s.Trouble == "The API server does not answer." })
	w.cancel("asks")
	w.becomes("asks", "Failed", func(s v1alpha1.TaskSubmissionStatus) bool { return s.Phase == v1alpha1.PhaseFailed })
	later := await("nothing is heard of it", func(s shown) bool { return s.Now.Sub(cut.Now) > 2*time.Second })
	if !asks(later) || !later.AsOf.Equal(cut.AsOf) || !later.AsOf.Before(cut.Now) {
		t.Errorf("as of %s, and before of %s, it shows %v", later.AsOf, cut.AsOf, names(later.Waiting.Items))
	}
	reach.mend()
	await("it has caught up", func(s shown) bool {
		return s.Waiting.Total == 0 && s.Recent.Failed == 1 && s.Trouble == "" && s.AsOf.After(later.AsOf)
	})
}
