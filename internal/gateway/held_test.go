package gateway

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

func TestHeld(t *testing.T) {
	h := &held{}
	for i, wanted := range []bool{true, true, false} {
		if h.enter("a", 2, 4, 7) != wanted {
			t.Errorf("entry %d: %t", i, !wanted)
		}
	}
	if !h.enter("b", 3, 4, 7) {
		t.Error("another caller is refused")
	}
	if h.enter("c", 1, 4, 7) {
		t.Error("all together hold more than they may")
	}
	h.leave("a", 2)
	if !h.enter("a", 2, 4, 7) {
		t.Error("what was left is counted")
	}
	h.leave("a", 4)
	h.leave("b", 3)
	if len(h.by) != 0 || h.all != 0 {
		t.Errorf("callers who hold nothing are remembered: %v, %d", h.by, h.all)
	}
	if !h.enter("a", 1<<40, 0, 0) {
		t.Error("0 is no bound")
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

// TestWhatDoesNotFitDoesNotWait: it is answered as it stands, and asked for again. It has no client that it could wait with.
func TestWhatDoesNotFitDoesNotWait(t *testing.T) {
	waits := &v1alpha1.TaskSubmission{}
	waits.Spec.Parameters.Raw = make([]byte, 1000)
	ctx := context.WithValue(t.Context(), callerKey{}, &Caller{Identity: "a"})
	for _, g := range []*Gateway{{WaitingBytes: waitingOverhead + 999}, {AllWaitingBytes: waitingOverhead + 999}} {
		if g.await(ctx, waits, time.Hour) != waits {
			t.Error("it is another one")
		}
	}
}
