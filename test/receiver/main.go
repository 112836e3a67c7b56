// Command receiver is what the demo's effects are sent to: an HTTP server that can misbehave in each of the ways
// that a real one does, and keeps a log of every effect that it really had. It stands for a payment provider, a
// mail gateway or a colleague's service.
//
//	go run ./test/receiver --listen 127.0.0.1:8080 --log ledger.jsonl
//
// How it behaves is the first segment of the path; behaviour.go has the list.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/taskonce/taskonce/test/receiver/ledger"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address to listen on; port 0: any free one")
	path := flag.String("log", "ledger.jsonl", "file that calls, effects and checks are appended to")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *listen, *path)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "receiver:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, listen, path string) (err error) {
	log, err := ledger.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	server := newServer(newReceiver(log))
	context.AfterFunc(ctx, func() { _ = server.Close() })

	// Whoever started this process reads the address from this line.
	fmt.Printf("listening on %s\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
