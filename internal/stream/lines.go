// Package stream writes lines to what somebody else reads, or does not.
package stream

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"time"
)

// patience is how long a line waits for a stream that takes nothing: longer than a reader that is only slow stands
// still, and shorter than what a leader has to renew its lease.
const patience = 5 * time.Second

var errStalled = errors.New("whoever reads the stream has stopped, and it takes no more: see what has become of the log's collector")

// Lines writes lines to what may be a pipe that nobody reads. A line waits for it for a while. As long as it still has not
// taken that one, every other is refused at once: so its writers are held up once, and go on.
type Lines struct {
	to       io.Writer
	patience time.Duration

	mu    sync.Mutex
	under chan taken // what comes of the line that is under way; nil: none is
	torn  bool       // the last line was written in part
}

// taken is what a stream took of a line.
type taken struct {
	n, of int
	err   error
}

// NewLines writes each line with one call.
func NewLines(to io.Writer) *Lines { return &Lines{to: to, patience: patience} }

// Write writes a whole line, from any goroutine. After an error it was not written; the one that it waited for in vain may
// come later, when the stream is read again.
func (l *Lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.under != nil {
		select {
		case last := <-l.under:
			l.end(last)
		default:
			return 0, errStalled
		}
	}
	l.begin(line)
	over := time.NewTimer(l.patience)
	defer over.Stop()
	select {
	case done := <-l.under:
		l.end(done)
		if done.err != nil {
			return 0, done.err
		}
		return len(line), nil
	case <-over.C:
		return 0, errStalled
	}
}

// begin has a copy written, which the caller need not wait for. What is left of a line that was torn off ends first, so that
// only that one cannot be read.
func (l *Lines) begin(line []byte) {
	text := bytes.Clone(line)
	if l.torn {
		text = append([]byte{'\n'}, text...)
	}
	under := make(chan taken, 1)
	l.under = under
	go func() {
		n, err := l.to.Write(text)
		under <- taken{n, len(text), err}
	}()
}

func (l *Lines) end(last taken) {
	l.under = nil
	if last.n > 0 {
		l.torn = last.n < last.of
	}
}
