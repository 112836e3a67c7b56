package submit_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/pkg/submit"
	"github.com/taskonce/taskonce/test/harness"
)

// TestALostAnswer has a create that landed and was not answered: it is this client's own, and not sent again.
func TestALostAnswer(t *testing.T) {
	for _, test := range []struct {
		reason  string
		network roundTrip
	}{
		{"cut", on(http.MethodPost, cut)},
		{"timed out", on(http.MethodPost, silent)},
		{"500", on(http.MethodPost, gateway(500))},
		{"503", on(http.MethodPost, gateway(503))},
		{"504", on(http.MethodPost, gateway(504))},
		{"cut, and then it cannot be read, so its AlreadyExists is its own", both(on(http.MethodPost, cut), on(http.MethodGet, instead(503)))},
		{"cut, and sent again, and cut again", both(on(http.MethodPost, cut, cut), on(http.MethodGet, instead(503), instead(500)))},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t)
			c := w.client(test.network)
			c.RequestTimeout = 2 * time.Second
			if receipt := w.submit(w.prepare(c)); receipt.Answer != submit.First {
				t.Errorf("its own create is told as %s", receipt.Answer)
			}
			if n := len(w.there()); n != 1 {
				t.Errorf("%d submissions", n)
			}
		})
	}
}

// TestWhatDidNotArriveIsSentAgain has creates that never reached the API server.
func TestWhatDidNotArriveIsSentAgain(t *testing.T) {
	w := newWorld(t)
	var told atomic.Int32
	c := w.client(on(http.MethodPost, instead(503), instead(429), instead(408)))
	c.OnRetry = func(string, error) { told.Add(1) }
	if receipt := w.submit(w.prepare(c)); receipt.Answer != submit.First || told.Load() == 0 {
		t.Errorf("%s, after %d retries", receipt.Answer, told.Load())
	}
}

func TestItSurvivesARestart(t *testing.T) {
	w := newWorld(t)
	ctx, crash := context.WithCancel(t.Context())
	dying := w.prepare(w.client(on(http.MethodPost, func(r *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
		defer crash()
		return cut(r, send)
	})))
	_, err := dying.Submit(ctx)
	var unknown *submit.UnknownError
	if !errors.As(err, &unknown) || !errors.Is(err, context.Canceled) || dying.State() != submit.Unknown {
		t.Fatalf("%s, %v", dying.State(), err)
	}
	// The key is all that the next process has.
	receipt := w.submit(w.prepare(w.client(nil)))
	if receipt.Answer != submit.Duplicate || len(w.there()) != 1 {
		t.Errorf("%s, %d submissions", receipt.Answer, len(w.there()))
	}
	// And this one, had it gone on, would know that it was the first.
	if receipt := w.submit(dying); receipt.Answer != submit.First {
		t.Errorf("gone on: %s", receipt.Answer)
	}
}

// TestOneOfTwentyIsTheFirst has twenty clients submit one action, half of them over a network that loses answers.
func TestOneOfTwentyIsTheFirst(t *testing.T) {
	w := newWorld(t)
	var firsts, duplicates atomic.Int32
	var clients sync.WaitGroup
	for i := range 20 {
		network := roundTrip(nil)
		if i%2 == 0 {
			network = both(on(http.MethodPost, cut, cut), on(http.MethodGet, cut))
		}
		s := w.prepare(w.client(network))
		clients.Go(func() {
			receipt, err := s.Submit(t.Context())
			switch {
			case err != nil:
				t.Error(err)
			case receipt.Answer == submit.First:
				firsts.Add(1)
			default:
				duplicates.Add(1)
			}
		})
	}
	clients.Wait()
	if firsts.Load() != 1 || duplicates.Load() != 19 || len(w.there()) != 1 {
		t.Errorf("%d firsts, %d duplicates, %d submissions", firsts.Load(), duplicates.Load(), len(w.there()))
	}
}

// TestARefusalAfterALostAnswer: what comes later says nothing about what was sent earlier.
func TestARefusalAfterALostAnswer(t *testing.T) {
	for reason, lost := range map[string]roundTrip{"cut": cut, "408": gateway(408), "500": gateway(500)} {
		t.Run(reason, func(t *testing.T) {
			w := newWorld(t)
			s := w.prepare(w.client(both(on(http.MethodPost, lost, instead(403)), on(http.MethodGet, instead(503), instead(503)))))
			_, err := s.Submit(t.Context())
			var unknown *submit.UnknownError
			if !errors.As(err, &unknown) || !apierrors.IsForbidden(err) || s.State() != submit.Unknown {
				t.Fatalf("%s, %v", s.State(), err)
			}
			if receipt := w.submit(s); receipt.Answer != submit.First {
				t.Errorf("asked again: %s", receipt.Answer)
			}
		})
	}
}

// TestNobodyListens: where no connection is made nothing can have been created.
func TestNobodyListens(t *testing.T) {
	w := newWorld(t)
	address, err := harness.UnusedAddress()
	if err != nil {
		t.Fatal(err)
	}
	c, err := submit.Connect(&rest.Config{Host: "http://" + address})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c.MaxDelay, c.OnRetry = time.Millisecond, func(string, error) { cancel() }
	s := w.prepare(c)
	if _, err := s.Submit(ctx); !errors.Is(err, context.Canceled) || s.State() != submit.Idle {
		t.Errorf("%s, %v", s.State(), err)
	}
}

// TestWhatNeverLeftIsNoDoubt: where a request fails on this side, as for want of credentials, nothing can have been created,
// and why it fails is told in the end, too. Whether it left is known of a connection of the client's own.
func TestWhatNeverLeftIsNoDoubt(t *testing.T) {
	w := newWorld(t)
	noCredentials, closed := errors.New("getting credentials: exec: it failed"), errors.New("the circuit is open")
	always := func(err error) roundTrip {
		return func(*http.Request, func() (*http.Response, error)) (*http.Response, error) { return nil, err }
	}
	for _, test := range []struct {
		reason  string
		network roundTrip
		ours    bool
		want    submit.State
		cause   error
		at      int // how many tries it is given up after
	}{
		{"there are no credentials", always(noCredentials), true, submit.Idle, noCredentials, 0},
		{"it never left", always(closed), true, submit.Idle, closed, 1},
		{"it left, and then there were none", func(r *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			if r.Method == http.MethodPost {
				_, _ = cut(r, send)
			}
			return nil, noCredentials
		}, true, submit.Unknown, noCredentials, 1},
		{"nobody took note", always(noCredentials), false, submit.Unknown, noCredentials, 1},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		c, retries := w.client(test.network), 0
		if !test.ours {
			c = &submit.Client{API: c.API, MaxDelay: c.MaxDelay}
		}
		c.OnRetry = func(string, error) { retries++; cancel() }
		s := w.prepare(c)
		_, err := s.Submit(ctx)
		var unknown *submit.UnknownError
		var lacking *submit.CredentialsError
		if s.State() != test.want || errors.As(err, &unknown) != (test.want == submit.Unknown) || !errors.Is(err, test.cause) || retries != test.at {
			t.Errorf("%s: %s after %d tries, %v", test.reason, s.State(), retries+1, err)
		}
		if test.at == 0 != (errors.As(err, &lacking) && ctx.Err() == nil) {
			t.Errorf("%s: %v", test.reason, err)
		}
		cancel()
	}
}

// TestCredentialsThatEnd while a submission is waited for are asked for again; where there are none to begin with, that is told
// at once.
func TestCredentialsThatEnd(t *testing.T) {
	w := newWorld(t)
	w.submit(w.prepare(w.client(nil)))
	without := 0
	c := w.client(func(r *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
		if without > 0 {
			without--
			return nil, errors.New("getting credentials: exec: it failed")
		}
		if r.URL.Query().Has("watch") {
			without = 2
			return cut(r, send)
		}
		return send()
	})
	looks := 0
	enough := func(*v1alpha1.TaskSubmission) bool { looks++; return looks == 3 }
	name := client.ObjectKey{Namespace: w.namespace, Name: w.prepare(c).Name()}
	if _, err := c.Follow(t.Context(), name, enough); err != nil || looks != 3 {
		t.Errorf("%d looks, %v", looks, err)
	}
	without = 1
	var lacking *submit.CredentialsError
	if _, err := c.Follow(t.Context(), name, enough); !errors.As(err, &lacking) {
		t.Errorf("without credentials: %v", err)
	}
}
