package submit

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/url"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// TestWhatTheServerAsksForIsNotUndercut: it may ask for more than MaxDelay.
func TestWhatTheServerAsksForIsNotUndercut(t *testing.T) {
	const longest = 2 * time.Second
	busy, broken := apierrors.NewTooManyRequests("later", 7), errors.New("connection reset by peer")
	for reason, tt := range map[string]struct {
		errs  []error
		least time.Duration
	}{
		"it asks for more":           {[]error{busy}, 7 * time.Second},
		"one of two asks for more":   {[]error{broken, busy}, 7 * time.Second},
		"it asks for nothing":        {[]error{broken}, firstDelay},
		"it has not said what it is": {nil, firstDelay},
	} {
		got := (&Client{MaxDelay: longest}).newPause().next(tt.errs...)
		if got < tt.least || got > max(tt.least, longest) {
			t.Errorf("%s: %s, want %s or a little more", reason, got, tt.least)
		}
	}
}

// TestAServerThatIsNotTrustedIsNotAskedAgain: nothing was sent to it, and it stays who it is.
func TestAServerThatIsNotTrustedIsNotAskedAgain(t *testing.T) {
	untrusted := &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}
	got := sent{err: &url.Error{Op: "Post", URL: "https://api.example", Err: untrusted}}
	if !got.refused() || got.doubtful() {
		t.Errorf("refused: %t, doubtful: %t", got.refused(), got.doubtful())
	}
}
