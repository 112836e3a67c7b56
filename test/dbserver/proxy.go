package dbserver

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"sync"
)

// Loss is what a proxy does with the answer to COMMIT.
type Loss int

const (
	// LoseNothing passes everything on.
	LoseNothing Loss = iota
	// LoseCommit closes the connection in place of passing COMMIT on: nothing is committed.
	LoseCommit
	// LoseAnswer passes COMMIT on, waits for the answer, and closes the connection in its place.
	LoseAnswer
	// HangAtCommit passes neither COMMIT nor anything else on, and leaves the connection open.
	HangAtCommit
)

// Proxy stands between a client and a server, and looks at what the client sends.
type Proxy struct {
	Port int

	target   string
	listener net.Listener
	running  sync.WaitGroup

	mu      sync.Mutex
	loss    Loss
	inserts int
	commits int
	changed chan struct{}
	conns   map[net.Conn]bool
	open    int
	most    int
}

// NewProxy starts a proxy in front of a server.
func NewProxy(s *Server) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		Port: listener.Addr().(*net.TCPAddr).Port, target: fmt.Sprintf("127.0.0.1:%d", s.Port), listener: listener,
		changed: make(chan struct{}), conns: map[net.Conn]bool{},
	}
	p.running.Go(p.accept)
	return p, nil
}

// Lose sets what becomes of COMMITs from now on. Those before it do not count any more.
func (p *Proxy) Lose(loss Loss) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loss, p.commits = loss, 0
}

// Inserts counts the transactions that inserted a row into the ledger, as text that passed.
func (p *Proxy) Inserts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.inserts
}

// Open counts the clients that are connected, and Connections how many were at once.
func (p *Proxy) Open() int { p.mu.Lock(); defer p.mu.Unlock(); return p.open }

// Connections is described at Open.
func (p *Proxy) Connections() int { p.mu.Lock(); defer p.mu.Unlock(); return p.most }

// count notes that a client came or went.
func (p *Proxy) count(change int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open += change
	p.most = max(p.most, p.open)
}

// AwaitCommit returns as soon as a COMMIT has arrived since Lose was called, or with the error of ctx.
func (p *Proxy) AwaitCommit(ctx context.Context) error {
	for {
		p.mu.Lock()
		commits, changed := p.commits, p.changed
		p.mu.Unlock()
		if commits > 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Close ends every connection, and returns when nothing of the proxy runs.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.mu.Lock()
	conns := p.conns
	p.conns = nil
	p.mu.Unlock()
	for conn := range conns {
		_ = conn.Close()
	}
	p.running.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) keep(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		return false
	}
	p.conns[conn] = true
	return true
}

func (p *Proxy) serve(client net.Conn) {
	p.count(1)
	defer p.count(-1)
	defer client.Close()
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	if !p.keep(client) || !p.keep(server) {
		return
	}
	mute := &muted{to: client}
	p.running.Go(func() {
		_, _ = io.Copy(mute, server)
		_ = client.Close()
	})
	p.forward(client, server, mute)
}

// forward passes on what the client sends. Both drivers write a short command at once, so that it arrives whole.
func (p *Proxy) forward(client, server net.Conn, mute *muted) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		chunk := buffer[:n]
		switch p.judge(chunk) {
		case LoseCommit:
			return
		case HangAtCommit:
			_, _ = io.Copy(io.Discard, client)
			return
		case LoseAnswer:
			answered := mute.mute()
			if _, err := server.Write(chunk); err != nil {
				return
			}
			<-answered
			return
		}
		if _, err := server.Write(chunk); err != nil {
			return
		}
	}
}

// judge counts, and returns what is to become of a chunk.
func (p *Proxy) judge(chunk []byte) Loss {
	p.mu.Lock()
	defer p.mu.Unlock()
	if bytes.Contains(chunk, []byte("INSERT INTO taskonce_ledger")) {
		p.inserts++
	}
	if !bytes.Contains(chunk, []byte("COMMIT")) {
		return LoseNothing
	}
	p.commits++
	close(p.changed)
	p.changed = make(chan struct{})
	return p.loss
}

// muted passes on what the server says, until it is muted; then it tells when the server has said something.
type muted struct {
	to       net.Conn
	mu       sync.Mutex
	answered chan struct{}
}

func (m *muted) mute() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answered = make(chan struct{})
	return m.answered
}

func (m *muted) Write(raw []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.answered == nil {
		return m.to.Write(raw)
	}
	close(m.answered)
	return 0, io.ErrClosedPipe
}
