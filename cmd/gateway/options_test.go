package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/internal/setting"
)

func none(string) (string, bool) { return "", false }

func TestWhatIsWrongWithFlags(t *testing.T) {
	for _, test := range []struct{ flags, says string }{
		{"", "--tls-cert-dir must name a folder"},
		{"--plain-http --tls-cert-dir=/tls", "exclude each other"},
		{"--plain-http --oidc-audience=school", "set --oidc-issuer"},
		{"--plain-http --oidc-username-prefix=oidc:", "set --oidc-issuer"},
		{"--plain-http --oidc-issuer=https://issuer.example", "--oidc-audience must be set"},
		{"--plain-http --oidc-issuer=issuer.example --oidc-audience=school", "--oidc-issuer must be an https URL"},
		{"--plain-http --oidc-issuer=http://issuer.example --oidc-audience=school", "--oidc-issuer must be an https URL"},
		{"--plain-http --oidc-issuer=https://issuer.example --oidc-audience=school --oidc-keys-url=http://issuer.example/keys", "--oidc-keys-url must be an https URL"},
		{"--plain-http --oidc-issuer=https://issuer.example --oidc-audience=school --oidc-username-claim=", "--oidc-username-claim must name a claim"},
		{"--plain-http --rate=-1", "--rate must not be negative"},
		{"--plain-http --rate=NaN", "--rate must not be negative"},
		{"--plain-http --default-wait=2m", "--default-wait must be between"},
		{"--plain-http --api-patience=1ms", "--api-patience must be at least 1s"},
		{"--plain-http --grace-period=-1s", "--grace-period must not be negative"},
		{"--plain-http --max-body-bytes=10", "--max-body-bytes must be at least 1024"},
		{"--plain-http --rate=1 --burst=0", "--burst must be at least 1"},
		{"--plain-http --cors-origins=*", `"*" is no origin`},
		{"--plain-http --cors-origins=https://*.example", "is no origin"},
		{"--plain-http --cors-origins=https://school.example/path", "is no origin"},
		{"--plain-http --trusted-proxies=10.0.0.0/33", `"10.0.0.0/33" is no network`},
		{"--plain-http --metrics-authentication=some", "must be delegated or none"},
		{"--plain-http --page-authentication=some", "must be delegated or none"},
		{"--plain-http --page-authentication=none --page-bind-address=:8082", "--page-bind-address=127.0.0.1:8082"},
		{"--plain-http --page-authentication=none --page-bind-address=10.0.0.1:8082", "--page-bind-address=127.0.0.1:8082"},
		{"--plain-http --page-bind-address=:8082", "--plain-http would have the page's tokens sent without TLS"},
		{"--plain-http --page-bind-address=10.0.0.1:8082", "--page-bind-address=127.0.0.1:8082"},
		{"--plain-http --page-namespaces=shop", "set --page-bind-address"},
		{"--plain-http --page-bind-address=:8082 --page-namespaces=Shop", `"Shop" is no name of a namespace`},
		{"--plain-http --log-format=xml", "must be json or text"},
		{"--plain-http --log-level=trace", "must be debug, info or error"},
		{"--plain-http --bind-address=8443", "bind-address: an address must be as :8443"},
		{"--plain-http --bind-address=0", "--bind-address must be as :8443"},
		{"--plain-http --metrics-bind-address=localhost", "metrics-bind-address: an address must be as :8443"},
		{"--plain-http --health-probe-bind-address=:65536", "health-probe-bind-address: an address must be as :8443"},
		{"--plain-http --page-bind-address=127.0.0.1", "page-bind-address: an address must be as :8443"},
		{"--plain-http serve", `no argument "serve"`},
		{"--plane-http", "--help lists the flags"},
	} {
		if _, err := parse(strings.Fields(test.flags), none, io.Discard); err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", test.flags, err, test.says)
		}
	}
}

func TestFlags(t *testing.T) {
	o, err := parse([]string{"--plain-http", "--cors-origins=https://school.example, http://localhost:8080", "--rate=0", "--burst=0", "--trusted-proxies=10.0.0.0/8, fd00::1"}, none, io.Discard)
	if err != nil || o.trustedProxies.String() != "10.0.0.0/8,fd00::1/128" || o.origins.String() != "https://school.example,http://localhost:8080" || o.mode() != "pass-through" {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err = parse([]string{"--version"}, none, io.Discard); err != nil || !o.VersionOnly() {
		t.Errorf("the version needs no other flag: %+v, %v", o, err)
	}
	for _, safe := range []string{"--plain-http --page-bind-address=127.0.0.1:8082", "--tls-cert-dir=/tls --page-bind-address=:8082"} {
		if _, err := parse(strings.Fields(safe), none, io.Discard); err != nil {
			t.Errorf("%s: %v", safe, err)
		}
	}
	if o, err = parse([]string{"--tls-cert-dir=/tls", "--oidc-issuer=https://issuer.example", "--oidc-audience=school"}, none, io.Discard); err != nil || o.mode() != "oidc" {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err = parse([]string{"--version"}, none, io.Discard); err != nil || !o.VersionOnly() {
		t.Errorf("its version is told without a certificate: %+v, %v", o, err)
	}
}

// TestTheEnvironmentStandsInForFlags, as for the operator's: by the same function.
func TestTheEnvironmentStandsInForFlags(t *testing.T) {
	environment := map[string]string{
		"TASKONCE_PLAIN_HTTP": "true", "TASKONCE_BURST": "7", "TASKONCE_RATE": "8", "TASKONCE_CORS_ORIGINS": "",
		"TASKONCE_GATEWAY_PORT": "tcp://10.0.0.1:443", // Kubernetes' own, for a Service of that name
	}
	lookup := func(name string) (string, bool) { value, ok := environment[name]; return value, ok }
	o, err := parse([]string{"--burst=9"}, lookup, io.Discard)
	if err != nil || o.burst != 9 || o.perSecond != 8 || len(o.origins) != 0 {
		t.Errorf("%+v, %v", o, err)
	}
	for _, wrong := range []struct{ variable, value, says string }{
		{"TASKONCE_LOG_LEVEL", "trace", "must be debug, info or error"},
		{"TASKONCE_RATE", "-8", "--rate must not be negative"},
	} {
		environment[wrong.variable] = wrong.value
		if _, err := parse(nil, lookup, io.Discard); err == nil || !strings.Contains(err.Error(), wrong.says) {
			t.Errorf("a variable is checked as the flag is, and %s=%s got %v", wrong.variable, wrong.value, err)
		}
	}
}

// TestFlagsAreDocumented compares the end of docs/flags.md with the flags. TASKONCE_WRITE_FLAGS is where to add it instead,
// as make generate does after the operator's test.
func TestFlagsAreDocumented(t *testing.T) {
	want := "\n## The HTTP gateway\n\n" + setting.Table((&options{}).flags())
	if path := os.Getenv("TASKONCE_WRITE_FLAGS"); path != "" {
		file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = file.WriteString(want)
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(filepath.Join("..", "..", "docs", "flags.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(got), want) {
		t.Error("docs/flags.md is not what the flags say: run make generate")
	}
}
