package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// audience is whom the tokens are for.
const audience = "school"

// tokenLife is how long a token is valid; pages fetch new ones before.
const tokenLife = time.Hour

// people are what their tokens say of them. The template's access goes by it.
var people = map[string]map[string]any{
	"student": {"sub": "stu-7"},
	"teacher": {"sub": "ms-lee", "roles": []string{"teacher"}},
	"parent":  {"sub": "pat", "children": []string{"stu-7"}},
}

// issuer vouches for everybody who asks: an OpenID provider for one machine.
type issuer struct {
	url string
	key jose.JSONWebKey
}

func newIssuer(url string) (*issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return &issuer{url: url, key: jose.JSONWebKey{Key: key, KeyID: rand.Text(), Algorithm: string(jose.ES256), Use: "sig"}}, nil
}

func (i *issuer) serve(mux *http.ServeMux) {
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{i.key.Public()}})
	})
	mux.HandleFunc("GET /token/{who}", func(w http.ResponseWriter, r *http.Request) {
		claims, known := people[r.PathValue("who")]
		if !known {
			http.Error(w, "nobody here has that name", http.StatusNotFound)
			return
		}
		token, err := i.sign(claims)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		writeJSON(w, map[string]any{"token": token, "seconds": tokenLife.Seconds()})
	})
}

func (i *issuer) sign(claims map[string]any) (string, error) {
	all := map[string]any{"iss": i.url, "aud": audience, "exp": time.Now().Add(tokenLife).Unix()}
	for name, value := range claims {
		all[name] = value
	}
	payload, err := json.Marshal(all)
	if err != nil {
		return "", err
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: i.key}, nil)
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}
