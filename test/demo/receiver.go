package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// receiverProgram is the receiver in the demo's folder.
const receiverProgram = "receiver"

// receiver is the receiver's process, and its log.
type receiver struct {
	*process
	address string // where it listens
	shut    string // where it does not listen before open
	ledger  string // the file
}

// startReceiver returns when the receiver listens.
func startReceiver(ctx context.Context, dir, program string) (*receiver, error) {
	r := &receiver{ledger: filepath.Join(dir, "ledger.jsonl")}
	output := filepath.Join(dir, "receiver.log")
	var err error
	if r.shut, err = unusedAddress(); err != nil {
		return nil, err
	}
	if r.process, err = launch("receiver", output, nil, program, "--listen=127.0.0.1:0", "--log="+r.ledger); err != nil {
		return nil, err
	}
	err = until(ctx, "the receiver to listen", func(context.Context) (bool, error) {
		said, err := os.ReadFile(output)
		line, _, whole := strings.Cut(string(said), "\n")
		r.address = strings.TrimPrefix(line, "listening on ")
		if err == nil && !whole {
			err = r.ended()
		}
		return whole, err
	})
	if err != nil {
		r.kill()
		return nil, err
	}
	return r, nil
}

// unusedAddress returns an address on which nothing listens. Its port lies below those that systems give to outgoing
// connections, so that nobody takes it meanwhile.
func unusedAddress() (string, error) {
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(10000))
		if listener, err := net.Listen("tcp", address); err == nil {
			return address, listener.Close()
		}
	}
	return "", fmt.Errorf("no free port was found between 20000 and 30000")
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

// called waits until a call with this key is in the log.
func (r *receiver) called(ctx context.Context, key string) error {
	return until(ctx, "a call of the receiver", func(context.Context) (bool, error) {
		entries, err := ledger.Read(r.ledger)
		return len(ledger.Select(entries, ledger.Call, key)) > 0, err
	})
}

// stopPatience is how long a process may take to end when it is asked to.
const stopPatience = 30 * time.Second
