package install_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// routes does what kube-proxy does: who connects to a Service's address is led to one of its pods that are ready, and
// for some time to those that were. The API server is told to go through it, by a Unix socket.
type routes struct {
	node   *node
	dir    string
	listen net.Listener

	mu  sync.Mutex
	led map[net.Conn]bool // connections of the API server
}

// egress says to the API server where the proxy is.
const egress = `apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- name: cluster
  connection:
    proxyProtocol: HTTPConnect
    transport:
      uds: {udsName: %s}
`

// open listens, and returns the path of the API server's configuration.
func (r *routes) open() (string, error) {
	socket := filepath.Join(r.dir, "routes")
	listen, err := net.Listen("unix", socket)
	if err != nil {
		return "", err
	}
	r.listen = listen
	path := filepath.Join(r.dir, "egress.yaml")
	return path, os.WriteFile(path, fmt.Appendf(nil, egress, socket), 0o600)
}

func (r *routes) serve(ctx context.Context) {
	for {
		connection, err := r.listen.Accept()
		if err != nil {
			return
		}
		go r.lead(ctx, connection)
	}
}

// lead answers one CONNECT.
func (r *routes) lead(ctx context.Context, from net.Conn) {
	defer from.Close()
	reader := bufio.NewReader(from)
	request, err := http.ReadRequest(reader)
	if err != nil {
		return
	}
	to, err := r.dial(ctx, request.Host)
	if err != nil {
		fmt.Fprintf(from, "HTTP/1.1 502 Bad Gateway\r\n\r\n%s", err)
		return
	}
	defer to.Close()
	r.keep(from)
	defer r.forget(from)
	fmt.Fprint(from, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() {
		_, _ = io.Copy(to, reader) // a cut connection is the other side's to notice
		to.Close()
	}()
	_, _ = io.Copy(from, to)
}

func (r *routes) keep(from net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.led == nil {
		r.led = map[net.Conn]bool{}
	}
	r.led[from] = true
}

func (r *routes) forget(from net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.led, from)
}

// cut ends what the API server has open: it has to ask for the way again.
func (r *routes) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for from := range r.led {
		_ = from.Close()
	}
}

// dial connects to a Service, as address and port.
func (r *routes) dial(ctx context.Context, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	services, err := r.node.clients.CoreV1().Services("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range services.Items {
		service := &services.Items[i]
		for _, p := range service.Spec.Ports {
			if service.Spec.ClusterIP == host && strconv.Itoa(int(p.Port)) == port {
				return r.toPod(service, p.TargetPort.String())
			}
		}
	}
	return nil, fmt.Errorf("no Service has the address %s", address)
}

func (r *routes) toPod(service *corev1.Service, port string) (net.Conn, error) {
	var ready, leaving []string
	for _, s := range r.node.named(service.Namespace) {
		if !s.isLedTo() || !labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(s.pod.Labels)) {
			continue
		}
		ready = append(ready, s.ports[s.port(port)])
		if s.isLeaving() {
			leaving = append(leaving, s.ports[s.port(port)])
		}
	}
	if len(ready) == 0 {
		return nil, fmt.Errorf("the Service %s has no pod that is ready", service.Name)
	}
	if len(leaving) > 0 {
		ready = leaving // the worst that chance may come to
	}
	return net.Dial("tcp", ready[rand.IntN(len(ready))])
}
