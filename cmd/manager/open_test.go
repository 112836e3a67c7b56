package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatIsWrongIsSaidBeforeTheClusterIsAsked: setting.Main opens the options first.
func TestWhatIsWrongIsSaidBeforeTheClusterIsAsked(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "no", "where")
	for arguments, says := range map[string]string{
		"--webhook-cert-dir=" + t.TempDir():                    "--webhook-cert-dir must name a folder with a tls.crt and the tls.key to it",
		"--webhook-bind-address=0 --audit-log=" + nowhere:      "--audit-log must name a file that can be written to",
		"--webhook-bind-address=0 --audit-log=" + os.TempDir(): "--audit-log must name a file that can be written to",
	} {
		if _, err := opened(t, arguments); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", arguments, err, says)
		}
	}
}

func opened(t *testing.T, arguments string) (*options, error) {
	t.Helper()
	o, err := parse(strings.Fields(arguments), none, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return o, o.Open()
}

// TestTheNamespaceIsThePods, unless a flag names another one.
func TestTheNamespaceIsThePods(t *testing.T) {
	before := namespaceFile
	t.Cleanup(func() { namespaceFile = before })
	namespaceFile = filepath.Join(t.TempDir(), "namespace")
	for _, row := range []struct{ arguments, says string }{
		{"--webhook-bind-address=:9443", "--webhook-service-namespace"},
		{"--webhook-bind-address=0 --leader-elect", "--leader-election-namespace"},
	} {
		if _, err := opened(t, row.arguments); err == nil || !strings.Contains(err.Error(), "outside a cluster set "+row.says) {
			t.Errorf("outside a cluster, %s: %v", row.arguments, err)
		}
	}
	if _, err := opened(t, "--webhook-bind-address=0"); err != nil {
		t.Errorf("it needs no namespace, and says %v", err)
	}
	if err := os.WriteFile(namespaceFile, []byte("pods\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := opened(t, "--leader-elect --leader-election-namespace=leases")
	if err != nil || o.webhookNamespace != "pods" || o.leaderElectionNamespace != "leases" {
		t.Errorf("%q and %q, %v", o.webhookNamespace, o.leaderElectionNamespace, err)
	}
}
