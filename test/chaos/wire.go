package main

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/taskonce/taskonce/test/harness"
)

// wire is what one replica reaches the API server through. It can be cut while the API server is well: then watches
// end, or something is written and its answer is lost. It has the operator's rights, and the replica no others.
type wire struct {
	kubeconfig string // the path of the replica's
	server     *http.Server
	proxy      *httputil.ReverseProxy

	mu      sync.Mutex
	watches map[int]context.CancelFunc
	number  int
	deaf    time.Time     // until then there is no new watch
	lose    int           // so many answers are still to be lost
	lost    chan struct{} // closed when the last of them was
}

// openWire makes a wire with the rights of a kubeconfig file, and keeps the replica's own in the folder.
func openWire(rights, dir, name string) (*wire, error) {
	config, err := clientcmd.BuildConfigFromFlags("", rights)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	x := &wire{kubeconfig: filepath.Join(dir, name+".kubeconfig"), watches: map[int]context.CancelFunc{}}
	x.proxy = &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:      transport,
		FlushInterval:  -1,
		ErrorLog:       log.New(io.Discard, "", 0),
		ModifyResponse: x.pass,
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }, // cuts the connection
	}
	x.server = &http.Server{Handler: x, ReadHeaderTimeout: patience}
	go func() { _ = x.server.Serve(listener) }()
	return x, x.writeKubeconfig("http://" + listener.Addr().String())
}

func (x *wire) writeKubeconfig(server string) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["wire"] = &clientcmdapi.Cluster{Server: server}
	config.Contexts["wire"] = &clientcmdapi.Context{Cluster: "wire", Namespace: harness.ManagerNamespace}
	config.CurrentContext = "wire"
	return clientcmd.WriteToFile(*config, x.kubeconfig)
}

func (x *wire) close() error { return x.server.Close() }

// ServeHTTP passes a request on.
func (x *wire) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.URL.Query().Has("watch") {
		ctx, end := x.watch(request.Context())
		defer end()
		request = request.WithContext(ctx)
	}
	x.proxy.ServeHTTP(w, request)
}

// watch returns the context of a watch, which a cut ends, and what is to be called at its end.
func (x *wire) watch(ctx context.Context) (cuttable context.Context, end func()) {
	cuttable, cancel := context.WithCancel(ctx)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.number++
	number := x.number
	x.watches[number] = cancel
	if time.Now().Before(x.deaf) {
		cancel()
	}
	return cuttable, func() {
		cancel()
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(x.watches, number)
	}
}

// cut ends every watch, lets none begin for a while, and says how many there were.
func (x *wire) cut(deaf time.Duration) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.deaf = time.Now().Add(deaf)
	for _, cancel := range x.watches {
		cancel()
	}
	return len(x.watches)
}

// loseAnswers loses the next n answers to writes that succeed. What it returns is closed when that has happened.
func (x *wire) loseAnswers(n int) <-chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.lose, x.lost = n, make(chan struct{})
	return x.lost
}

var errLost = errors.New("the answer is lost")

// pass lets an answer through, or loses it.
func (x *wire) pass(answer *http.Response) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	ours := answer.Request.Method != http.MethodGet && strings.HasPrefix(answer.Request.URL.Path, "/apis/taskonce.dev/")
	if x.lose == 0 || !ours || answer.StatusCode >= http.StatusMultipleChoices {
		return nil
	}
	if x.lose--; x.lose == 0 {
		close(x.lost)
	}
	return errLost
}
