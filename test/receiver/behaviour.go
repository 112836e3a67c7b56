package main

import (
	"net"
	"net/http"
	"time"
)

// behaviour says what becomes of one call.
type behaviour func(w http.ResponseWriter, c call)

const (
	// busyFor is the Retry-After, in seconds, of the first answer of "busy".
	busyFor = "2"
	// lateBy is longer than the time-out of its caller in the demo, by more than a caller or a machine hesitates.
	lateBy = 6 * time.Second
	// slowBy is long enough for others to wait for a place meanwhile.
	slowBy = 1500 * time.Millisecond
	// slowToTell is long enough for a status that says what is awaited, also where the operator hesitates.
	slowToTell = 3 * time.Second
)

// behaviours are the first segments of the paths. All but "idempotent" have an effect for each call that they let
// through, as most receivers do.
func (r *receiver) behaviours() map[string]behaviour {
	return map[string]behaviour{
		"plain":      r.plain,
		"drop":       r.drop,
		"warm":       r.warm,
		"busy":       r.busy,
		"hold":       r.hold,
		"late":       r.late,
		"idempotent": r.idempotent,
		"slow":       r.slow,
		"refuse":     r.refuse,
	}
}

// plain applies and answers.
func (r *receiver) plain(w http.ResponseWriter, c call) {
	answer(w, http.StatusOK, r.apply(c))
}

// drop applies and cuts the connection instead of answering. A receiver in such a state is slow to be asked, too.
func (r *receiver) drop(w http.ResponseWriter, c call) {
	r.apply(c)
	r.mu.Lock()
	done := r.receipts[c.Key]
	done.slowToTell = true
	r.receipts[c.Key] = done
	r.mu.Unlock()
	cut(w)
}

// warm answers the first request on a connection and keeps the connection open. It applies any later one on it, too,
// and then the connection dies: the caller's HTTP library must not send it again by itself.
func (r *receiver) warm(w http.ResponseWriter, c call) {
	done := r.apply(c)
	if c.OnConnection > 1 {
		cut(w)
		return
	}
	answer(w, http.StatusOK, done)
}

// busy asks the first call of a key to come back later, and lets the others through.
func (r *receiver) busy(w http.ResponseWriter, c call) {
	if c.Number == 1 {
		comeBack(w, busyFor)
		return
	}
	r.plain(w, c)
}

// hold neither applies nor answers before it is released by hand.
func (r *receiver) hold(w http.ResponseWriter, c call) {
	<-r.released
	r.plain(w, c)
}

// late applies long after the caller has given up.
func (r *receiver) late(w http.ResponseWriter, c call) {
	time.Sleep(r.lateBy)
	r.plain(w, c)
}

// slow takes its time, and then applies and answers.
func (r *receiver) slow(w http.ResponseWriter, c call) {
	time.Sleep(r.slowBy)
	r.plain(w, c)
}

// refuse does not apply it, and never will.
func (r *receiver) refuse(w http.ResponseWriter, _ call) {
	answer(w, http.StatusUnprocessableEntity, map[string]string{"error": "this cannot be done"})
}

// idempotent applies a key once, whatever it is sent. The answer to the first call is lost, the second call is
// refused before anybody looks at its key, and from the third on the stored answer is returned.
func (r *receiver) idempotent(w http.ResponseWriter, c call) {
	switch c.Number {
	case 1:
		r.apply(c)
		cut(w)
	case 2:
		comeBack(w, "1")
	default:
		done, _ := r.applied(c.Key)
		answer(w, http.StatusOK, done)
	}
}

func comeBack(w http.ResponseWriter, seconds string) {
	w.Header().Set("Retry-After", seconds)
	answer(w, http.StatusTooManyRequests, map[string]string{"error": "too many requests: come back later"})
}

// cut ends the connection without an answer.
func cut(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := connection.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a reset, and not an orderly end
	}
	_ = connection.Close()
}
