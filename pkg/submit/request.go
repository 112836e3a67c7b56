package submit

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// sent is what came of one create.
type sent struct {
	object *v1alpha1.TaskSubmission
	err    error
}

func (s *Submission) create(ctx context.Context) sent {
	object := s.object.DeepCopy()
	carryTrace(ctx, object)
	err := s.client.request(ctx, func(ctx context.Context) error { return s.client.API.Create(ctx, object) })
	if err != nil {
		return sent{err: err}
	}
	return sent{object: object}
}

// request makes one request in the time that one has. Where it certainly never left this process, the error is an
// *unsentError, or a *CredentialsError with one.
func (c *Client) request(ctx context.Context, send func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.requestTimeout())
	defer cancel()
	ctx, left := c.departure(ctx)
	err := send(ctx)
	if err != nil && !left() {
		return unsent(err)
	}
	return err
}

// doubtful reports whether the create may have landed although its answer is an error, or none. An AlreadyExists is
// not: it says that this request created nothing.
func (s sent) doubtful() bool {
	var dial *net.OpError
	var unsent *unsentError
	switch code := codeOf(s.err); {
	case code != 0:
		return code == http.StatusRequestTimeout || code >= http.StatusInternalServerError
	case errors.As(s.err, &dial) && dial.Op == "dial":
		return false // there was no connection to send it over
	case errors.As(s.err, &unsent):
		return false
	default:
		return !s.refused()
	}
}

// refused reports whether sending the same again is of no use.
func (s sent) refused() bool {
	var untrusted *tls.CertificateVerificationError
	switch code := codeOf(s.err); code {
	case 0:
		return meta.IsNoMatchError(s.err) || errors.As(s.err, &untrusted)
	case http.StatusConflict, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	default:
		return code < http.StatusInternalServerError
	}
}

// codeOf returns the HTTP status of an answer; 0: there was none.
func codeOf(err error) int {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return int(status.Status().Code)
	}
	return 0
}

// read returns a submission as it is, or nil and why there is none to be shown: a NotFound, or that the API server
// could not be asked.
func (c *Client) read(ctx context.Context, named client.Object) (*v1alpha1.TaskSubmission, error) {
	found := &v1alpha1.TaskSubmission{}
	err := c.request(ctx, func(ctx context.Context) error { return c.API.Get(ctx, client.ObjectKeyFromObject(named), found) })
	if err != nil {
		return nil, err
	}
	return found, nil
}

// pause waits between requests: longer each time, with jitter.
type pause struct {
	client  *Client
	backoff wait.Backoff
}

const firstDelay = 100 * time.Millisecond

func (c *Client) newPause() *pause {
	return &pause{client: c, backoff: wait.Backoff{Duration: min(firstDelay, c.maxDelay()), Factor: 2, Jitter: 0.5, Steps: 1 << 20, Cap: c.maxDelay()}}
}

// next is how long to wait now. What the API server asked for is never undercut.
func (p *pause) next(errs ...error) time.Duration {
	delay := p.backoff.Step()
	for _, err := range errs {
		if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
			delay = max(delay, time.Duration(seconds)*time.Second)
		}
	}
	return delay
}

// wait returns when it is time for another request, or when ctx ends.
func (p *pause) wait(ctx context.Context, named client.Object, errs ...error) {
	delay := p.next(errs...)
	if err := errors.Join(errs...); err != nil && p.client.OnRetry != nil {
		p.client.OnRetry(named.GetName(), err)
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
