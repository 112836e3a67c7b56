package main

import "github.com/taskonce/taskonce/api/v1alpha1"

// state of one key, as its clients may know it. The API server's part is a register: there is a submission or there
// is none. The operator's part is the first end: whoever was told it fixes it for everyone, whatever happens to
// submissions afterwards. Only a Retry takes an end back, and only Failed.
type state struct {
	exists  bool
	payload int
	ended   bool
	end     end
	// told is what the present submission was seen to have ended with: that does not change while it exists.
	told bool
	// retries is how many Retry decisions were made that were not needed yet to explain anything.
	retries int
}

// end is how an action ended, for everyone.
type end struct {
	phase, digest string
}

// told is what a client was told, as the model compares it.
type told struct {
	certain, done bool
	payload       int // of a submission that was read
	terminal      bool
	refused       bool // by its own input, which says nothing of the action
	end           end
}

// step says whether the key may answer so in this state, and what its state is then.
func step(s state, asked operation, answer told) (bool, state) {
	if !answer.certain {
		return true, maybe(s, asked)
	}
	switch asked.kind {
	case opSubmit:
		if answer.done == s.exists {
			return false, s
		}
		if answer.done {
			s.exists, s.payload, s.told = true, asked.payload, false
		}
		return true, s
	case opDelete:
		ok := answer.done == s.exists || asked.forced
		s.exists, s.told = false, false
		return ok, s
	case opDecide:
		return true, decided(s, asked)
	default:
		return read(s, answer)
	}
}

// maybe is the state after something whose answer was lost and that did happen. That it did not happen needs no case
// of its own: it is then put at the end of the history, where nobody sees it.
func maybe(s state, asked operation) state {
	switch asked.kind {
	case opSubmit:
		if !s.exists {
			s.exists, s.payload, s.told = true, asked.payload, false
		}
	case opDelete:
		s.exists, s.told = false, false
	case opDecide:
		return decided(s, asked)
	}
	return s
}

// decided is the state after a decision. All but Retry lead to an end or to none, and whoever reads is told.
func decided(s state, asked operation) state {
	if asked.decision == v1alpha1.DecisionRetry {
		s.retries++
	}
	return s
}

// reopened is the state after a Retry has taken an end back.
func reopened(s state) (bool, state) {
	ok := s.ended && s.end.phase == string(v1alpha1.PhaseFailed) && s.retries > 0
	s.retries--
	s.ended, s.told = false, false
	return ok, s
}

func read(s state, answer told) (bool, state) {
	switch {
	case answer.done != s.exists:
		return false, s
	case !answer.done:
		return true, s
	case answer.payload != s.payload:
		return false, s
	case !answer.terminal && s.told:
		return reopened(s) // else an end is never taken back while the submission exists
	case !answer.terminal:
		return true, s
	case answer.refused:
		s.told = true
		return true, s
	}
	ok := true
	if s.ended && s.end != answer.end {
		ok, s = reopened(s)
	}
	s.told, s.ended, s.end = true, true, answer.end
	return ok, s
}
