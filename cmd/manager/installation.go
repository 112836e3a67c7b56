package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

// whenNotOverloaded tries until the API server does not refuse because it has too much to do. Whoever ended instead would
// only be started again, later and later.
func whenNotOverloaded(ctx context.Context, pause time.Duration, try func(context.Context) error) (err error) {
	_ = wait.PollUntilContextCancel(ctx, pause, true, func(ctx context.Context) (bool, error) {
		if err = try(ctx); !apierrors.IsTooManyRequests(err) {
			return true, nil
		}
		logf.Log.Info("the API server has too much to do (429): waiting for it", "error", err.Error())
		return false, nil
	}) // it ends with ctx, and then err says why it has waited
	return err
}

// byWayOf adds to an error of a request that the API server did not answer which proxy it was sent to.
func byWayOf(proxy func(*http.Request) (*url.URL, error), config *rest.Config, err error) error {
	var answer apierrors.APIStatus
	if err == nil || errors.As(err, &answer) {
		return err
	}
	server, _, parseErr := rest.DefaultServerUrlFor(config)
	if parseErr != nil {
		return err
	}
	through, proxyErr := proxy(&http.Request{URL: server})
	if proxyErr != nil || through == nil {
		return err
	}
	return fmt.Errorf("%w; it was sent to the proxy %s: add %s to NO_PROXY, unless the proxy leads to the API server", err, through.Redacted(), server.Hostname())
}
