package gateway

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestConnections(t *testing.T) {
	c := &connections{}
	for i, wanted := range []bool{true, true, false} {
		if c.enter("a", 2) != wanted {
			t.Errorf("connection %d: %t", i, !wanted)
		}
	}
	if !c.enter("b", 2) {
		t.Error("another caller is refused")
	}
	c.leave("a")
	if !c.enter("a", 2) {
		t.Error("one that was closed is counted")
	}
	for _, caller := range []string{"a", "a", "b"} {
		c.leave(caller)
	}
	if len(c.held) != 0 {
		t.Errorf("callers without connections are remembered: %v", c.held)
	}
}

func TestAConnectionEnds(t *testing.T) {
	g, now := &Gateway{StreamLife: time.Hour}, time.Now()
	if end := g.endOf(&Caller{}); end.Before(now.Add(time.Hour)) {
		t.Errorf("without an end of its token: %s", end)
	}
	if end := g.endOf(&Caller{Until: now.Add(time.Minute)}); !end.Equal(now.Add(time.Minute)) {
		t.Errorf("with its token: %s", end)
	}
	if end := g.endOf(&Caller{Until: now.Add(1000 * time.Hour)}); end.After(now.Add(999 * time.Hour)) {
		t.Errorf("with a token that never ends: %s", end)
	}
}

// impatient keeps whether there is a deadline for what is written.
type impatient struct {
	*httptest.ResponseRecorder
	t     *testing.T
	bound bool
}

func (i *impatient) SetWriteDeadline(at time.Time) error {
	i.bound = !at.IsZero()
	return nil
}

func (i *impatient) Write(body []byte) (int, error) {
	if !i.bound {
		i.t.Errorf("%q is written without a deadline", body)
	}
	i.bound = false
	return i.ResponseRecorder.Write(body)
}

func TestNobodyHoldsAConnectionWithoutReading(t *testing.T) {
	writer := &impatient{ResponseRecorder: httptest.NewRecorder(), t: t}
	s := &stream{writer: writer, control: http.NewResponseController(writer), patience: time.Minute}
	s.open()
	s.event("1", "submission", []byte("{}"))
	s.send(": still here\n\n")
	if s.err != nil || writer.Body.Len() == 0 {
		t.Errorf("%v: %q", s.err, writer.Body)
	}
}
