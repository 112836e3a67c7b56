package main

import (
	"context"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"github.com/taskonce/taskonce/internal/gateway/local"
	"github.com/taskonce/taskonce/internal/gateway/page"
	"github.com/taskonce/taskonce/internal/setting"
)

// servePage serves the page for people, with the gateway's own rights to read. Over TLS as the interface is, unless nobody is
// asked who they are: then it is for this machine, or pod, alone, which a port-forward reaches.
func servePage(ctx context.Context, config *rest.Config, options *options) error {
	if options.pageAddress == setting.Off {
		return nil
	}
	shown, err := page.New(config, options.pageNamespaces)
	if err != nil {
		return err
	}
	handler, certDir := local.Only(page.Handler(shown.State())), ""
	if options.pageAuthentication == delegated {
		state, err := page.Authorized(config, shown.State())
		if err != nil {
			return err
		}
		handler, certDir = page.Handler(state), options.certDir
	}
	serving, ctx := errgroup.WithContext(ctx)
	serving.Go(func() error { return shown.Run(ctx) })
	serving.Go(func() error {
		return serveAt(ctx, "page", string(options.pageAddress), certDir, handler, options.gracePeriod)
	})
	return serving.Wait()
}
