package main

import (
	"io"
	"strings"
	"testing"
)

func TestWhatIsWrongWithFlags(t *testing.T) {
	for _, test := range []struct{ flags, says string }{
		{"", "--tls-cert-dir must name a folder"},
		{"--plain-http --tls-cert-dir=/tls", "exclude each other"},
		{"--plain-http --oidc-audience=school", "set --oidc-issuer"},
		{"--plain-http --oidc-issuer=https://issuer.example", "--oidc-audience must be set"},
		{"--plain-http --default-wait=2m", "--default-wait must be between"},
		{"--plain-http --api-patience=1ms", "--api-patience must be at least 1s"},
		{"--plain-http --grace-period=-1s", "--grace-period must not be negative"},
		{"--plain-http --max-body-bytes=10", "--max-body-bytes must be at least 1024"},
		{"--plain-http --rate=1 --burst=0", "--burst must be at least 1"},
		{"--plain-http --cors-origins=*", `"*" is no origin`},
		{"--plain-http --cors-origins=https://*.example", "is no origin"},
		{"--plain-http --cors-origins=https://school.example/path", "is no origin"},
		{"--plain-http --metrics-authentication=some", "must be delegated or none"},
		{"--plain-http --page-authentication=some", "must be delegated or none"},
		{"--plain-http --page-authentication=none --page-bind-address=:8082", "--page-bind-address=127.0.0.1:8082"},
		{"--plain-http --page-authentication=none --page-bind-address=10.0.0.1:8082", "--page-bind-address=127.0.0.1:8082"},
		{"--plain-http --page-namespaces=shop", "set --page-bind-address"},
		{"--plain-http --page-bind-address=:8082 --page-namespaces=Shop", `"Shop" is no namespace`},
		{"--plain-http --log-format=xml", "must be json or text"},
		{"--plain-http serve", `no argument "serve"`},
		{"--plane-http", "--help lists the flags"},
	} {
		if _, err := parse(strings.Fields(test.flags), io.Discard); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", test.flags, err, test.says)
		}
	}
}

func TestFlags(t *testing.T) {
	o, err := parse([]string{"--plain-http", "--cors-origins=https://school.example, http://localhost:8080", "--rate=0", "--burst=0"}, io.Discard)
	if err != nil || o.origins.String() != "https://school.example,http://localhost:8080" || o.mode() != "pass-through" {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err = parse([]string{"--tls-cert-dir=/tls", "--oidc-issuer=https://issuer.example", "--oidc-audience=school"}, io.Discard); err != nil || o.mode() != "oidc" {
		t.Errorf("%+v, %v", o, err)
	}
}
