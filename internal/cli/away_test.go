package cli

import (
	"strings"
	"testing"
)

const withoutCredentials = `
apiVersion: v1
kind: Config
current-context: shop
contexts: [{name: shop, context: {cluster: shop, user: nobody, namespace: shop}}]
clusters: [{name: shop, cluster: {server: "https://127.0.0.1:1"}}]
users:
- name: nobody
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: "false", interactiveMode: Never}}
`

// TestNothingIsSent where nobody listens, or for want of credentials or of a name: the code says so, and the last line why.
func TestNothingIsSent(t *testing.T) {
	path := t.TempDir() + "/kubeconfig"
	write(t, path, withoutCredentials)
	away := "--server=http://127.0.0.1:1"
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"submit", "works", "--key=a", "--timeout=0"}, 1, `error: the submission "a" was not created: nothing was sent, for want of credentials: Post "https://127.0.0.1:1/apis/taskonce.dev/v1alpha1/namespaces/shop/tasksubmissions": getting credentials: exec: `},
		{[]string{"submit", "works", "--key=a", "--wait", "--timeout=0"}, 1, "run the program that the kubeconfig names for them, and log in if it asks for that"},
		{[]string{"submit", "works", "--key=a", "--dry-run=server"}, 1, "getting credentials: exec: "},
		{[]string{"wait", "a", "--timeout=0"}, 1, "error: nothing was sent, for want of credentials: Get "},
		{[]string{"result", "a"}, 1, "Unable to connect to the server: getting credentials: exec: "},
		{[]string{"submit", "works", "--key=a", "--timeout=1s", "--user=", away}, 1, "; the last try: Post "},
		{[]string{"submit", "works", "--key=a", "--dry-run=server", "--user=", away}, 1, `error: the submission "a" was not created: Post `},
		{[]string{"submit", "works", "--key=a", "-n", "a/b"}, 1, `no namespace has the name "a/b"`},
		{[]string{"wait", "a", "--timeout=1s", "--user=", away}, 3, "error: a: timed out after 1s; the last try: Get "},
		{[]string{"result", "a", "--user=", away}, 1, "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?"},
	} {
		_, complaints, code := at("", append(test.args, "--kubeconfig="+path)...)
		lines := strings.Split(strings.TrimSpace(complaints), "\n")
		if last := lines[len(lines)-1]; code != test.code || !strings.Contains(last, test.says) {
			t.Errorf("%v: %d: %s", test.args, code, complaints)
		}
	}
}
