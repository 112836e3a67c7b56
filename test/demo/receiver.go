package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"

	"github.com/taskonce/taskonce/test/harness"
	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// receiver is the receiver's process, and its log.
type receiver struct {
	*harness.Process
	address string // where it listens
	shut    string // where it does not listen before open
	ledger  string // the file
}

// startReceiver returns when the receiver listens.
func startReceiver(ctx context.Context, dir string) (*receiver, error) {
	r := &receiver{ledger: filepath.Join(dir, "ledger.jsonl")}
	var err error
	if r.shut, err = harness.UnusedAddress(); err != nil {
		return nil, err
	}
	r.Process, r.address, err = harness.LaunchReceiver(ctx, filepath.Join(dir, receiverProgram), filepath.Join(dir, "receiver.log"), r.ledger)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// open makes the receiver listen where nothing listened before.
func (r *receiver) open(ctx context.Context) error {
	return r.admin(ctx, "listen?address="+url.QueryEscape(r.shut))
}

// release lets the calls go on that are held.
func (r *receiver) release(ctx context.Context) error { return r.admin(ctx, "release") }

// drain returns when no call can have an effect any more.
func (r *receiver) drain(ctx context.Context) error { return r.admin(ctx, "drain") }

func (r *receiver) admin(ctx context.Context, what string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+r.address+"/admin/"+what, http.NoBody)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusNoContent {
		return fmt.Errorf("the receiver answered %q to %s", answer.Status, what)
	}
	return nil
}

// called waits until so many calls with this key are in the log.
func (r *receiver) called(ctx context.Context, key string, times int) error {
	return until(ctx, fmt.Sprintf("call %d of the receiver", times), func(context.Context) (bool, error) {
		entries, err := ledger.Read(r.ledger)
		return len(ledger.Select(entries, ledger.Call, key)) >= times, err
	})
}
