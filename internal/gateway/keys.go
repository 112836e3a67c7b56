package gateway

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"k8s.io/utils/clock"
)

// keysAway is the key of a bool in a context, set where keys could not be read: the verifier's error does not tell.
type keysAway struct{}

var (
	errKeysAway = errors.New("the issuer's keys cannot be read")
	errNoKeys   = errors.New("that is no document of keys")
)

const (
	// maxKeys is how many bytes are read of what an issuer says.
	maxKeys = 1 << 20
	// keysTimeout is how long an issuer has for its answer.
	keysTimeout = 10 * time.Second
	// keysPause is how long an issuer's answer holds, be it none: each token that its known keys have not signed asks for them, and
	// anybody can make such tokens.
	keysPause = time.Second
)

type watchedKeys struct{ oidc.KeySet }

func (k watchedKeys) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	payload, err := k.KeySet.VerifySignature(ctx, token)
	if away, ok := ctx.Value(keysAway{}).(*bool); ok {
		*away = errors.Is(err, errKeysAway) || errors.Is(err, context.DeadlineExceeded)
	}
	return payload, err
}

// keysTransport makes an error of whatever is no answer, asks nobody, where it is redirected, whom anybody could pass for, and
// asks nobody twice in a keysPause.
type keysTransport struct {
	next  http.RoundTripper
	clock clock.PassiveClock

	mu   sync.Mutex
	last map[string]keysAnswer // by URL, of which the issuer names a few
}

// keysAnswer is what came of a request.
type keysAnswer struct {
	at       time.Time
	response http.Response // without its body
	body     []byte
	err      error
}

// RoundTrip implements http.RoundTripper.
func (t *keysTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	url := request.URL.String()
	if !Trustworthy(url) {
		return nil, fmt.Errorf("%w: %s is no https URL: %s", errKeysAway, url, overPlainHTTP)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	answer, known := t.last[url]
	if !known || t.over(url, answer) {
		answer = t.ask(request)
		maps.DeleteFunc(t.last, t.over)
		t.last[url] = answer
	}
	if answer.err != nil {
		return nil, answer.err
	}
	again := answer.response
	again.Body, again.Request = io.NopCloser(bytes.NewReader(answer.body)), request
	return &again, nil
}

func (t *keysTransport) over(_ string, answer keysAnswer) bool {
	return t.clock.Since(answer.at) >= keysPause
}

func (t *keysTransport) ask(request *http.Request) keysAnswer {
	response, err := t.next.RoundTrip(request)
	if err != nil {
		return keysAnswer{at: t.clock.Now(), err: fmt.Errorf("%w: %w", errKeysAway, err)}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxKeys))
	redirected := response.StatusCode >= 300 && response.StatusCode < 400
	if !redirected && (err != nil || response.StatusCode != http.StatusOK || !json.Valid(body)) {
		err = fmt.Errorf("%w: %s says %s, in %d bytes: %w", errKeysAway, request.URL, response.Status, len(body), cmp.Or(err, errNoKeys))
		return keysAnswer{at: t.clock.Now(), err: err}
	}
	return keysAnswer{at: t.clock.Now(), response: *response, body: body}
}
