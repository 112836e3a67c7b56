package main

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/internal/setting"
)

func none(string) (string, bool) { return "", false }

// TestFlagsAreChecked has one line for everything that is wrong, which names the flag.
func TestFlagsAreChecked(t *testing.T) {
	for _, row := range []struct {
		argument, says string
	}{
		{"--wrokers=1", "wrokers"},
		{"--workers=many", "workers"},
		{"--workers=0", "--workers must be at least 1"},
		{"--max-in-flight=0", "--max-in-flight"},
		{"--max-response-bytes=10", "--max-response-bytes"},
		{"--max-sql-connections=0", "--max-sql-connections"},
		{"--sweep-interval=1ms", "--sweep-interval"},
		{"--sweep-rate=0", "--sweep-rate"},
		{"--grace-period=-1s", "--grace-period"},
		{"--leader-election-lease-duration=5s", "--leader-election-lease-duration"},
		{"--leader-election-name=", "--leader-election-name must not be empty"},
		{"--scope=UPPER", "--scope"},
		{"--metrics-authentication=maybe", "--metrics-authentication must be delegated or none"},
		{"--log-format=xml", "--log-format must be json or text"},
		{"--log-level=trace", "--log-level must be debug, info or error"},
		{"--namespaces=a,,b", `"" is no name of a namespace`},
		{"--namespaces=A", "namespaces"},
		{"--namespaces=a", "--namespaces needs --webhook-bind-address=0"},
		{"--webhook-bind-address=9443", "webhook-bind-address: an address must be as :8443"},
		{"--webhook-bind-address=:webhooks", "webhook-bind-address: an address must be as :8443"},
		{"--webhook-bind-address=:0", "--webhook-bind-address must name the port"},
		{"--metrics-bind-address=localhost", "metrics-bind-address: an address must be as :8443"},
		{"--metrics-bind-address=", "metrics-bind-address: an address must be as :8443"},
		{"--health-probe-bind-address=:65536", "health-probe-bind-address: an address must be as :8443"},
		{"--pprof-bind-address=::1:6060", "pprof-bind-address: an address must be as :8443"},
		{"stray", `no argument "stray"`},
	} {
		_, err := parse([]string{row.argument}, none, io.Discard)
		if err == nil || !strings.Contains(err.Error(), row.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one line with %q", row.argument, err, row.says)
		}
	}
}

func TestAddresses(t *testing.T) {
	o, err := parse([]string{"--webhook-bind-address=[::1]:9443", "--metrics-bind-address=localhost:8443", "--health-probe-bind-address=0", "--pprof-bind-address=127.0.0.1:0"}, none, io.Discard)
	if err != nil || o.webhookAddress != "[::1]:9443" || o.metricsAddress != "localhost:8443" || o.probeAddress != setting.Off || o.pprofAddress != "127.0.0.1:0" {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestTheEnvironmentStandsInForFlags(t *testing.T) {
	environment := map[string]string{
		"TASKONCE_WORKERS": "7", "TASKONCE_SWEEP_RATE": "8", "TASKONCE_LEADER_ELECT": "true", "TASKONCE_NAMESPACES": "a, b,a", "TASKONCE_WEBHOOK_BIND_ADDRESS": "0",
		"TASKONCE_WEBHOOK_SERVICE_PORT": "tcp://10.0.0.1:443", // Kubernetes' own, for a Service of that name
	}
	lookup := func(name string) (string, bool) { value, ok := environment[name]; return value, ok }
	got, err := parse([]string{"--workers=9"}, lookup, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if got.workers != 9 {
		t.Errorf("an argument goes before the environment, and there are %d workers", got.workers)
	}
	if got.sweepRate != 8 || !got.leaderElect || !slices.Equal(got.namespaces, setting.Namespaces{"a", "b"}) {
		t.Errorf("the environment was not read: %+v", got)
	}
	environment["TASKONCE_SWEEP_RATE"] = "fast"
	if _, err := parse(nil, lookup, io.Discard); err == nil || !strings.Contains(err.Error(), "TASKONCE_SWEEP_RATE") || strings.Contains(err.Error(), "\n") {
		t.Errorf("a wrong variable: got %v, want one line that names it", err)
	}
	environment["TASKONCE_SWEEP_RATE"] = "0"
	if _, err := parse(nil, lookup, io.Discard); err == nil || !strings.Contains(err.Error(), "--sweep-rate must be at least 1") {
		t.Errorf("a variable is checked as the flag is, and got %v", err)
	}
}

func TestHelpListsEveryFlag(t *testing.T) {
	var said strings.Builder
	if _, err := parse([]string{"--help"}, none, &said); !errors.Is(err, setting.ErrHelp) {
		t.Fatal(err)
	}
	(&options{}).flags().VisitAll(func(f *flag.Flag) {
		if !strings.Contains(said.String(), "  -"+f.Name+"\n") && !strings.Contains(said.String(), "  -"+f.Name+" ") {
			t.Errorf("--help says nothing of --%s", f.Name)
		}
	})
}

// TestFlagsAreDocumented compares docs/flags.md with the flags. TASKONCE_WRITE_FLAGS is where to write it instead, as
// make generate does; the gateway's test adds its own.
func TestFlagsAreDocumented(t *testing.T) {
	want := flagsPreamble + setting.Table((&options{}).flags())
	if path := os.Getenv("TASKONCE_WRITE_FLAGS"); path != "" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil { //nolint:gosec // a document
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(filepath.Join("..", "..", "docs", "flags.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(got), want+"\n## The HTTP gateway\n") {
		t.Error("docs/flags.md is not what the flags say: run make generate")
	}
}

const flagsPreamble = `<!-- Generated by make generate from cmd/manager and cmd/gateway. -->
# Flags

Of the [operator](#the-operator), and of the [HTTP gateway](#the-http-gateway). Each flag may be given as an environment variable, too:
` + "`TASKONCE_`" + ` and its name in capitals, with ` + "`_`" + ` for ` + "`-`" + `, as ` + "`TASKONCE_LOG_LEVEL`" + ` for ` + "`--log-level`" + `. An argument takes precedence over its variable,
so variables have no effect on the flags that the [manifest or the chart](install.md#settings) sets as arguments.

An invalid value, or a file that cannot be read, is reported in one line at the start, before the API server is called, and the process exits with status 2; with status 1 if anything else fails. ` + "`--version`" + ` prints the version, ` + "`--help`" + ` this list. The address of
the API server and the credentials come from the pod; elsewhere from ` + "`--kubeconfig`" + ` or the variable ` + "`KUBECONFIG`" + `.

The log goes to standard error, one line for each entry. It never contains tokens or values of Secrets.

## The operator

`
