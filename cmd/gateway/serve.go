package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// serveInterface serves over TLS, with a certificate that is read again when its files change, or without where that was asked for.
func serveInterface(ctx context.Context, handler http.Handler, options *options) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", options.address)
	if err != nil {
		return err
	}
	logf.Log.Info("listening", "address", listener.Addr().String(), "tls", options.certDir != "")
	server := &http.Server{Handler: handler, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes}
	if options.certDir == "" {
		return serve(ctx, server, func() error { return server.Serve(listener) }, options.gracePeriod)
	}
	watcher, err := certwatcher.New(filepath.Join(options.certDir, "tls.crt"), filepath.Join(options.certDir, "tls.key"))
	if err != nil {
		return fmt.Errorf("--tls-cert-dir: %w", errors.Join(err, listener.Close()))
	}
	go func() { _ = watcher.Start(ctx) }()
	server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: watcher.GetCertificate}
	return serve(ctx, server, func() error { return server.ServeTLS(listener, "", "") }, options.gracePeriod)
}

// serve returns when ctx has ended and requests that were there are answered, or cut after the grace period.
func serve(ctx context.Context, server *http.Server, listen func() error, grace time.Duration) error {
	stopped := make(chan error, 1)
	defer context.AfterFunc(ctx, func() {
		patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		err := server.Shutdown(patience)
		if errors.Is(err, context.DeadlineExceeded) {
			err = server.Close()
		}
		stopped <- err
	})()
	if err := listen(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}
