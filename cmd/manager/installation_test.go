package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
)

func TestAnOverloadedAPIServerIsWaitedFor(t *testing.T) {
	overloaded, missing := apierrors.NewTooManyRequests("too many requests", 1), errors.New("a kind is missing")
	answers, tries := []error{overloaded, overloaded, missing, nil}, 0
	try := func(context.Context) error { tries++; return answers[tries-1] }
	if err := whenNotOverloaded(t.Context(), time.Nanosecond, try); !errors.Is(err, missing) || tries != 3 {
		t.Errorf("got %v after %d tries; want what the third one said", err, tries)
	}
	if err := whenNotOverloaded(t.Context(), time.Nanosecond, try); err != nil {
		t.Errorf("got %v, and nothing was wrong", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := whenNotOverloaded(ended, time.Hour, func(context.Context) error { return overloaded }); !errors.Is(err, overloaded) {
		t.Errorf("asked to end while it waited: got %v", err)
	}
}

func TestAnErrorNamesTheProxy(t *testing.T) {
	config := &rest.Config{Host: "https://10.96.0.1:443"}
	away, status := errors.New("Forbidden"), apierrors.NewUnauthorized("no token")
	to := func(address string) func(*http.Request) (*url.URL, error) {
		return func(request *http.Request) (*url.URL, error) {
			if request.URL.Host != "10.96.0.1:443" || address == "" {
				return nil, nil
			}
			return url.Parse(address)
		}
	}
	for _, c := range []struct {
		reason, proxy string
		err           error
		want          string
	}{
		{"the proxy did not lead there", "http://me:secret@proxy.example:3128", away, "proxy http://me:xxxxx@proxy.example:3128: add 10.96.0.1 to NO_PROXY"},
		{"there is none", "", away, "Forbidden"},
		{"it did lead there", "http://proxy.example:3128", status, "no token"},
	} {
		got := byWayOf(to(c.proxy), config, c.err)
		if !errors.Is(got, c.err) || !strings.Contains(got.Error(), c.want) || strings.Contains(got.Error(), "secret") || (c.want == "Forbidden" && got.Error() != c.want) {
			t.Errorf("%s: got %v", c.reason, got)
		}
	}
	if err := byWayOf(to("http://proxy.example:3128"), config, nil); err != nil {
		t.Errorf("got %v, and nothing was wrong", err)
	}
}
