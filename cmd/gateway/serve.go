package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// serveAt serves over TLS, with a certificate that is read again when its files change, or without where there is no folder
// with one.
func serveAt(ctx context.Context, what, address, certDir string, handler http.Handler, grace time.Duration) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	logf.Log.Info("listening", "for", what, "address", listener.Addr().String(), "tls", certDir != "")
	log := slog.NewLogLogger(logr.ToSlogHandler(logf.Log.WithName(what)), slog.LevelInfo) // net/http would write lines of its own
	server := &http.Server{Handler: handler, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes, ErrorLog: log}
	if certDir == "" {
		return serve(ctx, server, func() error { return server.Serve(listener) }, grace)
	}
	watcher, err := certwatcher.New(filepath.Join(certDir, "tls.crt"), filepath.Join(certDir, "tls.key"))
	if err != nil {
		return fmt.Errorf("--tls-cert-dir: %w", errors.Join(err, listener.Close()))
	}
	go func() {
		if err := watcher.Start(ctx); err != nil { // as where no more files can be watched
			logf.Log.Error(err, "the certificate is not read again when it changes: restart the gateway then", "for", what, "folder", certDir)
		}
	}()
	server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: watcher.GetCertificate}
	return serve(ctx, server, func() error { return server.ServeTLS(listener, "", "") }, grace)
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
