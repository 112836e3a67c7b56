package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatIsWrongEndsWithStatus2 runs main: what is wrong is said in one line, before the cluster or an issuer is asked.
func TestWhatIsWrongEndsWithStatus2(t *testing.T) {
	if arguments := os.Getenv("MAIN_WITH"); arguments != "" {
		os.Args = append([]string{"gateway"}, strings.Fields(arguments)...)
		main()
		return
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const issuer = "--plain-http --oidc-issuer=https://issuer.example --oidc-audience=school --oidc-ca-file="
	for arguments, says := range map[string]string{
		"--plain-http --bind-address=8443": "bind-address: an address must be as :8443",
		"--tls-cert-dir=" + t.TempDir():    "--tls-cert-dir must name a folder with a tls.crt and the tls.key to it",
		issuer + empty + "-no":             "--oidc-ca-file",
		issuer + empty:                     "holds no certificate",
	} {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$") //nolint:gosec // this test
		again.Env = append(os.Environ(), "MAIN_WITH="+arguments+" --kubeconfig="+empty+"-no")
		out, err := again.CombinedOutput()
		var ended *exec.ExitError
		if !errors.As(err, &ended) || ended.ExitCode() != 2 || !strings.Contains(string(out), says) || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%s: %v, want status 2 and one line with %q: %s", arguments, err, says, out)
		}
	}
}
