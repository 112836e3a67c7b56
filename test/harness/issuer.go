package harness

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// IssuerAudience is whom an Issuer's tokens are for, unless their claims say otherwise.
const IssuerAudience = "school"

// Issuer vouches for people: an OpenID provider with one key.
type Issuer struct {
	*httptest.Server
	Key *ecdsa.PrivateKey
}

// NewIssuer serves an issuer over http, at an address of this machine.
func NewIssuer() (*Issuer, error) {
	issuer, err := newIssuer()
	if err == nil {
		issuer.Start()
	}
	return issuer, err
}

// NewTLSIssuer serves an issuer over https, with an authority of its own.
func NewTLSIssuer() (*Issuer, error) {
	issuer, err := newIssuer()
	if err == nil {
		issuer.StartTLS()
	}
	return issuer, err
}

func newIssuer() (*Issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	issuer := &Issuer{Key: key}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": issuer.URL, "jwks_uri": issuer.URL + "/keys", "id_token_signing_alg_values_supported": []string{"ES256"}})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "one", Algorithm: "ES256", Use: "sig"}}})
	})
	issuer.Server = httptest.NewUnstartedServer(mux)
	return issuer, nil
}

// Authority is the certificate of who signs the issuer's, as PEM.
func (i *Issuer) Authority() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate().Raw})
}

// Token signs claims with a key, which need not be the issuer's. What they leave out is as it should be.
func (i *Issuer) Token(key *ecdsa.PrivateKey, claims map[string]any) (string, error) {
	all := map[string]any{"iss": i.URL, "aud": IssuerAudience, "exp": time.Now().Add(time.Hour).Unix()}
	for name, value := range claims {
		all[name] = value
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: "one"}}, nil)
	if err != nil {
		return "", err
	}
	payload, err := json.Marshal(all)
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}
