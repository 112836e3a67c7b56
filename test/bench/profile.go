package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
)

// profileSeconds is how long a profile takes. What is measured must take as long.
const profileSeconds = "10"

// profile begins to take profiles of the API server and the manager, if they are wanted and none were taken yet. What it
// returns waits for them.
func (w *world) profile(ctx context.Context) func() error {
	if w.options.Profile == "" || w.profiled || !w.warm {
		return func() error { return nil }
	}
	w.profiled = true
	done := make(chan error)
	for program, take := range map[string]func() ([]byte, error){
		"kube-apiserver": func() ([]byte, error) {
			return w.clients.RESTClient().Get().AbsPath("/debug/pprof/profile").Param("seconds", profileSeconds).DoRaw(ctx)
		},
		"manager": func() ([]byte, error) { return w.managerProfile(ctx, "profile?seconds="+profileSeconds) },
	} {
		go func() {
			text, err := take()
			if err == nil {
				err = os.WriteFile(filepath.Join(w.options.Profile, program+".pprof"), text, 0o600)
			}
			done <- err
		}()
	}
	return func() error { return errors.Join(<-done, <-done) }
}

// managerProfile asks the manager for one of its profiles.
func (w *world) managerProfile(ctx context.Context, which string) (text []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.pprof+which, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the manager's profile: %s", response.Status)
	}
	return io.ReadAll(response.Body)
}
