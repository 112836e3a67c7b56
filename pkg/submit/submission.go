package submit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// State is how far a Submission has come.
type State string

const (
	// Idle: nothing was sent, or all that was sent was certainly refused.
	Idle State = "Idle"
	// Submitting: a request is under way.
	Submitting State = "Submitting"
	// Unknown: an answer was lost, so it may have been created. Submit again, with the same key, to find out.
	Unknown State = "Unknown"
	// Submitted: it is there.
	Submitted State = "Submitted"
)

// Answer says who created a submission.
type Answer string

const (
	// First: this very Submission created it, also where the answer to its create was lost.
	First Answer = "First"
	// Duplicate: the same action was there already.
	Duplicate Answer = "Duplicate"
)

// Receipt is what a Submission has when it is Submitted.
type Receipt struct {
	Answer Answer
	// Object is the submission as it was created or read. A duplicate's may have finished long ago.
	Object *v1alpha1.TaskSubmission
}

// Submission is one action on its way to the API server. It is safe for concurrent use.
type Submission struct {
	client *Client
	object *v1alpha1.TaskSubmission // as it is sent; not changed
	digest string
	token  string

	submitting sync.Mutex // one Submit at a time
	mu         sync.Mutex
	state      State
	receipt    *Receipt
}

// State returns how far it has come.
func (s *Submission) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Name returns the submission's name, which is computed from its key.
func (s *Submission) Name() string { return s.object.Name }

// Key returns its idempotency key.
func (s *Submission) Key() string { return s.object.Key() }

// Object returns a copy of what is sent.
func (s *Submission) Object() *v1alpha1.TaskSubmission { return s.object.DeepCopy() }

func (s *Submission) enter(state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
}

func (s *Submission) arrive(answer Answer, object *v1alpha1.TaskSubmission) Receipt {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.receipt = Submitted, &Receipt{Answer: answer, Object: object}
	return *s.receipt
}

func (s *Submission) arrived() *Receipt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.receipt
}

// Submit sends the action and returns when it is known to be there, or why it is not:
//
//   - *OtherPayloadError: the key belongs to another action. Idle again: nothing of this one was created.
//   - *RefusedError: the API server refused it. Idle again.
//   - *CredentialsError: there were no credentials to send it with. Idle again. While an answer is lost they are asked for
//     again, until ctx ends.
//   - *BlockedError: what has the key's name does not hold the key, and may not be deleted, or was not looked at by the
//     operator when ctx ended. Idle again.
//   - *UnknownError: ctx ended, or a refusal came, while an answer was lost. Unknown: it may have been created.
//
// Whatever is in doubt is read back, and where it is not there it is sent again, until ctx ends: give it a deadline.
// What is there and failed for its input is deleted first: its key is not used up.
// Where ctx ends and no answer is lost, it returns ctx's error, with what the last try came to, Idle. It may be called again in any state; when
// Submitted, it returns the same receipt.
func (s *Submission) Submit(ctx context.Context) (Receipt, error) {
	s.submitting.Lock()
	defer s.submitting.Unlock()
	if receipt := s.arrived(); receipt != nil {
		return *receipt, nil
	}
	doubt := s.State() == Unknown
	var last error
	for pause := s.client.newPause(); ; {
		if ctx.Err() != nil {
			return Receipt{}, s.abort(doubt, ended(ctx, last))
		}
		s.enter(Submitting)
		sent := s.create(ctx)
		if sent.err == nil {
			return s.arrive(First, sent.object), nil
		}
		if doubt = doubt || sent.doubtful(); !doubt && lacksCredentials(sent.err) {
			return Receipt{}, s.stay(Idle, sent.err)
		}
		s.enter(Unknown)
		found, err := s.client.read(ctx, s.object)
		last = sent.err
		switch {
		case found != nil && (s.tells(found) || sent.refused() && !found.Invalid()):
			return s.recognise(found, doubt)
		case sent.refused():
			return Receipt{}, s.abort(doubt, &RefusedError{Name: s.object.Name, Err: sent.err})
		case found != nil:
			if err = s.makeWay(ctx, found); mayNot(err) {
				return s.stopAt(found, doubt, err)
			}
			last = &BlockedError{Key: s.Key(), Existing: found, Err: cmp.Or(err, sent.err)}
		}
		pause.wait(ctx, s.object, sent.err, err)
	}
}

// ended is why ctx has, and what the last try until then came to.
func ended(ctx context.Context, last error) error {
	cause := context.Cause(ctx)
	if last == nil || errors.Is(last, ctx.Err()) {
		return cause // the last try says no more than that there was no time for it
	}
	return fmt.Errorf("%w; the last try: %w", cause, last)
}

// abort ends a Submit without an object to show. While an answer is lost, no later refusal says that it was not created.
func (s *Submission) abort(doubt bool, err error) error {
	if !doubt {
		return s.stay(Idle, err)
	}
	return s.stay(Unknown, &UnknownError{Name: s.object.Name, Err: err})
}

func (s *Submission) stay(state State, err error) error {
	s.enter(state)
	return err
}

// recognise compares what is there with what was sent.
func (s *Submission) recognise(found *v1alpha1.TaskSubmission, doubt bool) (Receipt, error) {
	if s.own(found) {
		return s.arrive(First, found), nil
	}
	if !s.Same(found) {
		state := Idle
		if doubt {
			state = Unknown // should what is there be deleted, a late create of ours could still land
		}
		return Receipt{}, s.stay(state, &OtherPayloadError{Key: s.Key(), Existing: found})
	}
	return s.arrive(Duplicate, found), nil
}

// own reports whether this very Submission has created what is there.
func (s *Submission) own(found *v1alpha1.TaskSubmission) bool {
	return found.Annotations[v1alpha1.AnnotationClientToken] == s.token
}

// Same reports whether a submission that is there is the same action: the same key, template and parameters.
func (s *Submission) Same(found *v1alpha1.TaskSubmission) bool {
	digest, err := v1alpha1.PayloadDigest(&found.Spec)
	return err == nil && digest == s.digest && found.Key() == s.object.Key()
}
