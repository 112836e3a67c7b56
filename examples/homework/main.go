package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/taskonce/taskonce/internal/gateway/local"
)

// options are the flags.
type options struct {
	address   string
	gateways  []*url.URL
	receiver  *url.URL
	ledger    string
	client    string
	namespace string
	patience  time.Duration
	slow      time.Duration
}

func main() {
	o, err := parse(os.Args[1:])
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		err = run(ctx, o)
		stop()
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "homework:", err)
		os.Exit(1)
	}
}

func parse(arguments []string) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("homework", flag.ContinueOnError)
	flags.StringVar(&o.address, "listen", "127.0.0.1:8088", "Where the pages are served. Whoever reaches it is whom they say they are.")
	gateways := flags.String("gateways", "", "The URLs of the gateways, with commas between them; they take turns.")
	receiver := flags.String("receiver", "", "The URL of the receiver, for pages without taskonce.")
	flags.StringVar(&o.ledger, "ledger", "", "The file in which the receiver keeps its ledger.")
	flags.StringVar(&o.client, "client", "", "The folder of the compiled browser client.")
	flags.StringVar(&o.namespace, "namespace", "school", "The namespace with the template.")
	flags.DurationVar(&o.patience, "patience", 3*time.Second, "How long a page waits for an answer before it takes it as lost.")
	flags.DurationVar(&o.slow, "slow", 6*time.Second, "How late an answer is on a slow network.")
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	if o.ledger == "" || o.client == "" {
		return nil, errors.New("--ledger and --client must be set")
	}
	for text := range strings.SplitSeq(*gateways, ",") {
		gateway, err := base(text)
		if err != nil {
			return nil, fmt.Errorf("--gateways: %w", err)
		}
		o.gateways = append(o.gateways, gateway)
	}
	var err error
	if o.receiver, err = base(*receiver); err != nil {
		return nil, fmt.Errorf("--receiver: %w", err)
	}
	return o, nil
}

// base reads the URL of a server.
func base(text string) (*url.URL, error) {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Host == "" {
		return nil, fmt.Errorf("%q is no URL, such as http://127.0.0.1:8080", text)
	}
	return parsed, nil
}

func run(ctx context.Context, o *options) error {
	people, err := newIssuer("http://" + o.address)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: routes(o, people), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func routes(o *options, people *issuer) http.Handler {
	mux := http.NewServeMux()
	networks := newNetworks(o)
	people.serve(mux)
	networks.serve(mux)
	servePages(mux, o)
	mux.HandleFunc("GET /state/{task}", func(w http.ResponseWriter, r *http.Request) {
		booked, err := bookedFor(o.ledger, r.PathValue("task"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		writeJSON(w, map[string]any{"booked": booked, "networks": networks.of(r.PathValue("task"))})
	})
	// Tokens are for whoever asks, so only pages of this machine's own may.
	return local.Only(http.NewCrossOriginProtection().Handler(mux))
}
