package httpcall

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"syscall"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

// errCut joins what went wrong while the body was read.
var errCut = errors.New("the answer was cut")

// failure is why there is no full answer.
type failure struct {
	// sent says that some of the request left, or may have.
	sent bool
	// cancelled says that the caller gave up before anything left.
	cancelled error
	// message is for a person. It names neither ports nor times: those change by themselves.
	message string
}

// explain closes the gate and says what happened. Whether anything was sent is the gate's word alone; the error
// only picks the words.
func explain(ctx context.Context, err error, g *gate, at *stage) *failure {
	if g.close() {
		return &failure{sent: true, message: lost(ctx, err)}
	}
	f := &failure{message: unsent(ctx, err, at)}
	if errors.Is(ctx.Err(), context.Canceled) {
		f.cancelled = context.Cause(ctx)
	}
	return f
}

// lost says why a request that left has no full answer.
func lost(ctx context.Context, err error) string {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return "the operator stopped waiting for the answer"
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded), errors.Is(err, errTooLate):
		return "the receiver did not answer in full before the deadline"
	case errors.Is(err, errCut):
		return "the receiver's answer was cut short"
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection ended before the receiver answered"
	}
	return "the receiver's answer could not be read"
}

// unsent says why a request did not leave.
func unsent(ctx context.Context, err error, at *stage) string {
	var refused *refusedAddress
	var dns *net.DNSError
	switch {
	case errors.As(err, &refused):
		return "the receiver is not called: " + refused.Error()
	case errors.Is(ctx.Err(), context.Canceled):
		return "the operator stopped the attempt"
	case errors.Is(err, errTooLate):
		return "the deadline was over before the request could be sent"
	case errors.As(err, &dns) && dns.IsNotFound:
		return "the receiver's host name is not known"
	case errors.As(err, &dns):
		return "the receiver's host name could not be resolved"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the receiver refused the connection"
	case ctx.Err() != nil, timeout(err):
		return "the receiver could not be connected to in time"
	case at.tls.Load() && !at.connected.Load():
		return "the TLS handshake with the receiver failed" + certificate(err)
	}
	return "the receiver could not be connected to"
}

func timeout(err error) bool {
	var netError net.Error
	return errors.As(err, &netError) && netError.Timeout()
}

// certificate says what is wrong with the receiver's certificate, where that is it, without the times that Go's
// own text has.
func certificate(err error) string {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var verification *tls.CertificateVerificationError
	switch {
	case errors.As(err, &unknown):
		return ": its certificate is signed by an authority that is not trusted"
	case errors.As(err, &host):
		return ": its certificate is for another host name"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return ": its certificate has expired or is not yet valid"
	case errors.As(err, &verification):
		return ": its certificate is not valid"
	}
	return ""
}

// outcome is what a failure means for an attempt of the effect.
func (f *failure) outcome() (effect.Outcome, error) {
	switch {
	case f.sent:
		return effect.Outcome{Kind: v1alpha1.OutcomeUnknown, Message: f.message + "; it may have applied the request"}, nil
	case f.cancelled != nil:
		return effect.Outcome{}, &cancelledError{f.cancelled}
	}
	return effect.Outcome{Kind: v1alpha1.OutcomeNotApplied, Message: f.message + "; nothing was sent"}, nil
}

// cannotTell is what a failure means for a question about an attempt. An error is the caller's own cancellation.
func (f *failure) cannotTell(what string) (effect.Outcome, error) {
	if f.cancelled != nil {
		return effect.Outcome{}, &cancelledError{f.cancelled}
	}
	return effect.Outcome{Kind: v1alpha1.OutcomeUnknown, Message: what + " could not tell: " + f.message}, nil
}

// cancelledError says that the caller ended the attempt before anything was sent.
type cancelledError struct{ cause error }

func (e *cancelledError) Error() string { return "nothing was sent: " + e.cause.Error() }
func (e *cancelledError) Unwrap() error { return e.cause }
