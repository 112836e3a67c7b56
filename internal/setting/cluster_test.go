package setting_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/taskonce/taskonce/internal/setting"
)

// TestACluster is one whose address and credentials can be read, and nobody is asked whether it is there.
func TestACluster(t *testing.T) {
	const cluster = "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\nusers: [{name: u, user: {%}}]\n"
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	config.RegisterFlags(flags)
	before := flags.Lookup("kubeconfig").Value.String()
	t.Cleanup(func() { _ = flags.Set("kubeconfig", before) })
	path := filepath.Join(t.TempDir(), "kubeconfig")
	for _, row := range []struct{ reason, text, says string }{
		{"it can be used", strings.Replace(cluster, "%", "token: t", 1), ""},
		{"it is no YAML", "a: [", "no access to a cluster: error loading config file"},
		{"it is something else", "- a\n- b\n", "no access to a cluster: error loading config file"},
		{"it says nothing", "", "no configuration has been provided"},
		{"its context is not there", strings.NewReplacer("current-context: c", "current-context: d", "%", "token: t").Replace(cluster), "context: d"},
		{"a certificate is not there", strings.Replace(cluster, "%", "client-certificate: no, client-key: no", 1), "client-cert"},
		{"a program for credentials is of no version", strings.Replace(cluster, "%", "exec: {command: login}", 1), "apiVersion must be specified"},
	} {
		if err := os.WriteFile(path, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := flags.Set("kubeconfig", path); err != nil {
			t.Fatal(err)
		}
		found, err := setting.Cluster()
		switch {
		case row.says == "":
			if err != nil || found.Host != "https://127.0.0.1:1" {
				t.Errorf("%s: %v", row.reason, err)
			}
		case err == nil || !strings.Contains(err.Error(), row.says) || strings.Contains(err.Error(), "\n"):
			t.Errorf("%s: %v, want one line with %q", row.reason, err, row.says)
		}
	}
}
