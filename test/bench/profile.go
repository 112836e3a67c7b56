package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// profileSeconds is how long a profile takes. What is measured must take as long.
const profileSeconds = "10"

// profile begins to take a profile of the API server, if one is wanted and none was taken yet. What it returns waits for
// that.
func (w *world) profile(ctx context.Context) func() error {
	if w.options.Profile == "" || w.profiled {
		return func() error { return nil }
	}
	w.profiled = true
	done := make(chan error, 1)
	go func() {
		text, err := w.clients.RESTClient().Get().AbsPath("/debug/pprof/profile").Param("seconds", profileSeconds).DoRaw(ctx)
		done <- errors.Join(err, os.WriteFile(filepath.Join(w.options.Profile, "kube-apiserver.pprof"), text, 0o600))
	}()
	return func() error { return <-done }
}
