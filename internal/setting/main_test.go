package setting

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

// wanted are the options of a program.
type wanted struct {
	Common
	unopened, fails bool
}

func (w *wanted) Open() error {
	if w.unopened {
		return errors.New("--unopened must not be")
	}
	return nil
}

func parseWanted(arguments []string, lookup func(string) (string, bool), output io.Writer) (*wanted, error) {
	w, flags := &wanted{}, flag.NewFlagSet("program", flag.ContinueOnError)
	w.Register(flags)
	flags.BoolVar(&w.unopened, "unopened", false, "")
	flags.BoolVar(&w.fails, "fails", false, "")
	if err := Parse(flags, arguments, lookup, output); err != nil {
		return nil, err
	}
	return w, w.Check()
}

const aCluster = "{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c}}], clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]}"

// TestHowAProgramEnds runs a program in a process of its own: how that ends is told by its status and one line.
func TestHowAProgramEnds(t *testing.T) {
	if arguments, again := os.LookupEnv("PROGRAM_WITH"); again {
		os.Args = append([]string{"program"}, strings.Fields(arguments)...)
		Main("program", "v1", parseWanted, func(_ context.Context, _ *rest.Config, w *wanted) error {
			if w.fails {
				return errors.New("it ran, and failed")
			}
			fmt.Println("it ran")
			return nil
		})
		os.Exit(0)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte(aCluster), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", kubeconfig) // which the processes inherit
	for _, test := range []struct {
		arguments string
		status    int
		says      string
	}{
		{"", 0, "it ran\n"},
		{"--kubeconfig=" + kubeconfig + "-no", 2, "program: no access to a cluster: stat " + kubeconfig + "-no: no such file or directory; name a kubeconfig with --kubeconfig or the variable KUBECONFIG, or run it in a pod\n"},
		{"--version", 0, "taskonce program v1\n"},
		{"--version --unopened", 0, "taskonce program v1\n"},
		{"--fails", 1, "program: it ran, and failed\n"},
		{"--unopened", 2, "program: --unopened must not be\n"},
		{"--log-format=none", 2, "program: --log-format must be json or text\n"},
		{"--nonsense", 2, "program: flag provided but not defined: -nonsense; --help lists the flags\n"},
	} {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$") //nolint:gosec // this test
		again.Env = append(os.Environ(), "PROGRAM_WITH="+test.arguments)
		out, err := again.CombinedOutput()
		var failed *exec.ExitError
		if err != nil && !errors.As(err, &failed) {
			t.Fatal(err)
		}
		if got := again.ProcessState.ExitCode(); got != test.status || string(out) != test.says {
			t.Errorf("%s: status %d, want %d; %q, want %q", test.arguments, got, test.status, out, test.says)
		}
	}
}
