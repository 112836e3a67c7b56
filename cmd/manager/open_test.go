package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatIsWrongEndsWithStatus2 runs main: what is wrong is said in one line, before the cluster is asked.
func TestWhatIsWrongEndsWithStatus2(t *testing.T) {
	if arguments := os.Getenv("MAIN_WITH"); arguments != "" {
		os.Args = append([]string{"manager"}, strings.Fields(arguments)...)
		main()
		return
	}
	nowhere := filepath.Join(t.TempDir(), "no", "where")
	for arguments, says := range map[string]string{
		"--webhook-bind-address=9443":                          "webhook-bind-address: an address must be as :8443",
		"--webhook-cert-dir=" + t.TempDir():                    "--webhook-cert-dir must name a folder with a tls.crt and the tls.key to it",
		"--webhook-bind-address=0 --audit-log=" + nowhere:      "--audit-log must name a file that can be written to",
		"--webhook-bind-address=0 --audit-log=" + os.TempDir(): "--audit-log must name a file that can be written to",
	} {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$") //nolint:gosec // this test
		again.Env = append(os.Environ(), "MAIN_WITH="+arguments+" --kubeconfig="+nowhere)
		out, err := again.CombinedOutput()
		var ended *exec.ExitError
		if !errors.As(err, &ended) || ended.ExitCode() != 2 || !strings.Contains(string(out), says) || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%s: %v, want status 2 and one line with %q: %s", arguments, err, says, out)
		}
	}
}

// TestTheNamespaceIsThePods, unless a flag names another one.
func TestTheNamespaceIsThePods(t *testing.T) {
	before := namespaceFile
	t.Cleanup(func() { namespaceFile = before })
	namespaceFile = filepath.Join(t.TempDir(), "namespace")
	opened := func(arguments ...string) (*options, error) {
		o, err := parse(arguments, none, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		return o, o.open()
	}
	for _, row := range []struct{ arguments, says string }{
		{"--webhook-bind-address=:9443", "--webhook-service-namespace"},
		{"--webhook-bind-address=0 --leader-elect", "--leader-election-namespace"},
	} {
		if _, err := opened(strings.Fields(row.arguments)...); err == nil || !strings.Contains(err.Error(), "outside a cluster set "+row.says) {
			t.Errorf("outside a cluster, %s: %v", row.arguments, err)
		}
	}
	if _, err := opened("--webhook-bind-address=0"); err != nil {
		t.Errorf("it needs no namespace, and says %v", err)
	}
	if err := os.WriteFile(namespaceFile, []byte("pods\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := opened("--leader-elect", "--leader-election-namespace=leases")
	if err != nil || o.webhookNamespace != "pods" || o.leaderElectionNamespace != "leases" {
		t.Errorf("%q and %q, %v", o.webhookNamespace, o.leaderElectionNamespace, err)
	}
}
