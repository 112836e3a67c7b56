package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatIsWrongIsSaidBeforeAnybodyIsAsked: setting.Main opens the options before the cluster or an issuer is asked.
func TestWhatIsWrongIsSaidBeforeAnybodyIsAsked(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const issuer = "--plain-http --oidc-issuer=https://issuer.example --oidc-audience=school --oidc-ca-file="
	for arguments, says := range map[string]string{
		"--tls-cert-dir=" + t.TempDir(): "--tls-cert-dir must name a folder with a tls.crt and the tls.key to it",
		issuer + empty + "-no":          "--oidc-ca-file",
		issuer + empty:                  "holds no certificate",
	} {
		o, err := parse(strings.Fields(arguments), none, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Open(); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", arguments, err, says)
		}
	}
}
