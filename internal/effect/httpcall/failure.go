package httpcall

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
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
	err = errors.Join(err, g.refused())
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
	case alert(err) != "":
		return "the receiver ended the connection" + alert(err)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, errTwice):
		return "the connection ended before the receiver answered"
	}
	return "the receiver's answer could not be read"
}

// unsent says why a request did not leave.
func unsent(ctx context.Context, err error, at *stage) string {
	var refused *refusedAddress
	var dns *net.DNSError
	peer := at.peer()
	switch {
	case errors.As(err, &refused):
		return peer + " is not called: " + refused.Error()
	case errors.Is(ctx.Err(), context.Canceled):
		return "the operator stopped the attempt"
	case errors.Is(err, errTooLate):
		return "the deadline was over before the request could be sent"
	case at.connect.Load() != 0:
		return noTunnel(int(at.connect.Load()))
	case errors.As(err, &dns) && dns.IsNotFound:
		return peer + "'s host name is not known"
	case errors.As(err, &dns):
		return peer + "'s host name could not be resolved"
	case errors.Is(err, syscall.ECONNREFUSED):
		return peer + " refused the connection"
	case ctx.Err() != nil, timeout(err):
		return peer + " could not be connected to in time"
	case at.tls.Load() && (!at.connected.Load() || alert(err) != ""):
		return "the TLS handshake with the receiver failed" + certificate(err, at.field) + alert(err)
	}
	return peer + " could not be connected to"
}

// peer is who is dialled.
func (s *stage) peer() string {
	if s.proxy.Load() {
		return "the proxy of the operator's environment"
	}
	return "the receiver"
}

// noTunnel says that a proxy did not connect to the receiver, so that the receiver saw nothing.
func noTunnel(status int) string {
	if status == http.StatusProxyAuthRequired {
		return "the proxy of the operator's environment refused the credentials in HTTPS_PROXY (407)"
	}
	return "the proxy of the operator's environment made no connection to the receiver: " + statusLine(status)
}

// alert says with which alert the receiver ended TLS, where it did: so it tells that it wants another client certificate.
func alert(err error) string {
	var operation *net.OpError
	if errors.As(err, &operation) && operation.Op == "remote error" {
		return ": it said \"" + operation.Err.Error() + "\""
	}
	return ""
}

func timeout(err error) bool {
	var netError net.Error
	return errors.As(err, &netError) && netError.Timeout()
}

// certificate says what is wrong with the receiver's certificate, where that is it, without the times that Go's
// own text has. field is where the template describes the request.
func certificate(err error, field string) string {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var verification *tls.CertificateVerificationError
	switch {
	case errors.As(err, &unknown):
		return ": its certificate is signed by an authority that is not trusted; name that authority's certificate in " + field + ".tls.ca"
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
