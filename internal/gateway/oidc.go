package gateway

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"github.com/coreos/go-oidc/v3/oidc"
	"k8s.io/utils/clock"

	"github.com/taskonce/taskonce/internal/expr"
	"github.com/taskonce/taskonce/internal/gateway/local"
)

// Issuer is who vouches for callers.
type Issuer struct {
	// URL is the issuer as its tokens name it.
	URL string
	// Audience is whom its tokens must be for.
	Audience string
	// KeysURL is where its keys are. Empty: as its discovery document says.
	KeysURL string
	// CAFile holds the CA certificates that sign the issuer's, as PEM. Empty: the system's authorities are trusted.
	CAFile string
	// UsernameClaim names people, and UsernamePrefix goes before that, both as the API server has it where it trusts the
	// same issuer: so it is known whether an approver is the one on whose behalf something was submitted.
	UsernameClaim, UsernamePrefix string
}

// noPrefix says that nothing goes before people's names.
const noPrefix = "-"

// prefix is what goes before people's names: left out, what the API server takes then.
func (i *Issuer) prefix() string {
	switch {
	case i.UsernamePrefix == noPrefix, i.UsernamePrefix == "" && i.UsernameClaim == claimEmail:
		return ""
	case i.UsernamePrefix == "":
		return i.URL + "#"
	default:
		return i.UsernamePrefix
	}
}

const claimEmail = "email"

// username returns what the cluster calls the bearer of claims, or nothing where they do not say.
func (i *Issuer) username(claims map[string]any) string {
	name, _ := claims[i.UsernameClaim].(string)
	verified, stated := claims["email_verified"]
	if name == "" || i.UsernameClaim == claimEmail && stated && verified != true {
		return ""
	}
	return i.prefix() + name
}

// OIDC verifies tokens itself.
type OIDC struct {
	issuer   Issuer
	verifier *oidc.IDTokenVerifier
}

// algorithms are those with a public key: a shared secret would make everybody who verifies an issuer.
var algorithms = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA}

// NewOIDC returns one for an issuer. It asks for the issuer's discovery document where it was not told where the keys are.
func NewOIDC(ctx context.Context, issuer Issuer) (*OIDC, error) {
	return newOIDC(ctx, issuer, clock.RealClock{})
}

func newOIDC(ctx context.Context, issuer Issuer, clock clock.PassiveClock) (*OIDC, error) {
	transport, err := issuer.transport()
	if err != nil {
		return nil, err
	}
	ctx = oidc.ClientContext(ctx, &http.Client{Timeout: keysTimeout, Transport: &keysTransport{next: transport, clock: clock, last: map[string]keysAnswer{}}})
	keysURL := issuer.KeysURL
	if keysURL == "" {
		provider, err := oidc.NewProvider(ctx, issuer.URL)
		if err != nil {
			return nil, fmt.Errorf("the issuer %s does not say where its keys are: %w; state them with --oidc-keys-url", issuer.URL, err)
		}
		var found struct {
			KeysURL string `json:"jwks_uri"`
		}
		if err := provider.Claims(&found); err != nil {
			return nil, err
		}
		if !Trustworthy(found.KeysURL) {
			return nil, fmt.Errorf("the issuer %s says that its keys are at %q, which is no https URL: %s", issuer.URL, found.KeysURL, overPlainHTTP)
		}
		keysURL = found.KeysURL
	}
	keys := watchedKeys{oidc.NewRemoteKeySet(ctx, keysURL)}
	return &OIDC{issuer: issuer, verifier: oidc.NewVerifier(issuer.URL, keys, &oidc.Config{ClientID: issuer.Audience, SupportedSigningAlgs: algorithms})}, nil
}

const overPlainHTTP = "over plain http anybody between could vouch for anybody"

// Trustworthy reports whether what is read at a URL is what its owner says: over TLS, or from this very machine.
func Trustworthy(text string) bool {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Host == "" {
		return false
	}
	return parsed.Scheme == "https" || parsed.Scheme == "http" && local.Host(parsed.Host)
}

// CheckAuthorities says what is wrong with the file of those who sign the issuer's certificates.
func (i *Issuer) CheckAuthorities() error {
	_, err := i.transport()
	return err
}

// transport trusts those who sign the issuer's certificates.
func (i *Issuer) transport() (http.RoundTripper, error) {
	if i.CAFile == "" {
		return http.DefaultTransport, nil
	}
	text, err := os.ReadFile(i.CAFile)
	if err != nil {
		return nil, fmt.Errorf("--oidc-ca-file: %w", err)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("--oidc-ca-file: %s holds no certificate", i.CAFile)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12}
	return transport, nil
}

// Authenticate implements Authenticator.
func (o *OIDC) Authenticate(ctx context.Context, token string) (*Caller, *Problem) {
	away := false
	verified, err := o.verifier.Verify(context.WithValue(ctx, keysAway{}, &away), token)
	switch {
	case away:
		return nil, problem(unavailable, "the issuer's keys cannot be read").later()
	case err != nil:
		return nil, refuseToken("the token is not accepted: it must be a valid one of the issuer and for the audience that the gateway was told")
	case verified.Subject == "":
		return nil, refuseToken("the token names no subject")
	}
	var raw json.RawMessage
	if err := verified.Claims(&raw); err != nil {
		return nil, refuseToken("the token's claims cannot be read")
	}
	claims, err := expr.DecodeObject(raw)
	if err != nil {
		return nil, refuseToken("the token's claims cannot be read")
	}
	name := o.issuer.username(claims)
	if name == "" {
		return nil, refuseToken("the token does not name its bearer, or not in a way that was verified: the claim is " + o.issuer.UsernameClaim)
	}
	return &Caller{Identity: verified.Subject, Subject: name, Claims: claims, Until: verified.Expiry}, nil
}
