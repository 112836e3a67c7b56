// Package school runs the example of examples/homework with all that it needs: a control plane, the operator, two
// gateways that verify the tokens of the example's issuer, and a receiver with a ledger.
package school

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/taskonce/taskonce/test/harness"
)

// Namespace is where the school's template and submissions are.
const Namespace = "school"

// Options say how the school is run.
type Options struct {
	// Listen is where the example's pages are served. Empty: at an unused address of this machine.
	Listen string
	// Example and Gateway are flags of theirs, beside those that every school has.
	Example, Gateway []string
	// Say is called with what is done next. Nil: nobody is told.
	Say func(string)
}

// School is what runs.
type School struct {
	// URL is where the example's pages are.
	URL string
	// Gateways are the URLs of both.
	Gateways []string
	// Ledger is the path of the receiver's ledger.
	Ledger string
	// Plane is the control plane. Its folder has the logs of all programs.
	Plane *harness.ControlPlane

	// Processes are all programs beside the control plane.
	Processes harness.Processes

	bin      string
	receiver string
	options  Options
}

// Open returns when the pages are served. What it returns must be closed, also on an error.
func Open(ctx context.Context, options Options) (s *School, err error) {
	s = &School{options: options}
	if s.options.Say == nil {
		s.options.Say = func(string) {}
	}
	if options.Listen != "" && harness.Answers(ctx, "http://"+options.Listen) {
		return s, fmt.Errorf("something else is listening at %s already: end it, or choose another address (LISTEN=127.0.0.1:…)", options.Listen)
	}
	if s.bin, err = os.MkdirTemp("", "school"); err != nil {
		return s, err
	}
	for _, step := range []struct {
		says string
		run  func(context.Context) error
	}{
		{"Building the manager, the gateway, the receiver, the example and the browser client.", s.build},
		{"Starting etcd and kube-apiserver.", s.startPlane},
		{"Starting the receiver, the manager, two gateways and the example.", s.startPrograms},
	} {
		s.options.Say(step.says)
		if err := step.run(ctx); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s *School) build(ctx context.Context) error {
	if err := harness.Build(ctx, s.bin, "", "./cmd/manager", "./cmd/gateway", "./test/receiver", "./examples/homework"); err != nil {
		return err
	}
	root, err := harness.Root()
	if err != nil {
		return err
	}
	compile := exec.CommandContext(ctx, "node", "node_modules/typescript/bin/tsc", "--project", "tsconfig.build.json", "--outDir", s.client())
	compile.Dir = filepath.Join(root, "clients", "js")
	if out, err := compile.CombinedOutput(); err != nil {
		return fmt.Errorf("the browser client is not built (run make test-js first): %w\n%s", err, out)
	}
	return nil
}

func (s *School) client() string { return filepath.Join(s.bin, "client") }

func (s *School) startPlane(context.Context) (err error) {
	s.Plane, err = harness.Start(harness.Options{CRDs: true})
	return err
}

func (s *School) startPrograms(ctx context.Context) error {
	if err := s.startReceiver(ctx); err != nil {
		return err
	}
	if err := s.startManager(ctx); err != nil {
		return err
	}
	if err := s.furnish(ctx); err != nil {
		return err
	}
	address := s.options.Listen
	if address == "" {
		var err error
		if address, err = harness.UnusedAddress(); err != nil {
			return err
		}
	}
	s.URL = "http://" + address
	for range 2 {
		if err := s.startGateway(ctx); err != nil {
			return err
		}
	}
	return s.startExample(ctx, address)
}

func (s *School) startReceiver(ctx context.Context) error {
	s.Ledger = filepath.Join(s.Plane.Dir, "ledger.jsonl")
	process, address, err := harness.LaunchReceiver(ctx, s.program("receiver"), s.log("receiver"), s.Ledger)
	s.receiver = "http://" + address
	return s.Processes.Add(process, err)
}

func (s *School) startManager(ctx context.Context) error {
	kubeconfig, err := s.Plane.ManagerKubeconfig(ctx)
	if err != nil {
		return err
	}
	webhooks, err := harness.UnusedAddress()
	if err != nil {
		return err
	}
	if err := s.Plane.InstallAdmission(ctx, webhooks); err != nil {
		return err
	}
	manager := harness.Manager{Program: s.program("manager"), Kubeconfig: kubeconfig, Log: s.log("manager"), Webhooks: webhooks}
	if err := s.Processes.Add(manager.Start(ctx)); err != nil {
		return err
	}
	return s.Plane.AwaitWebhooks(ctx)
}

// startGateway starts one that believes the example's issuer, whose keys it reads when the first token comes.
func (s *School) startGateway(ctx context.Context) error {
	kubeconfig, err := s.Plane.GatewayKubeconfig(ctx)
	if err != nil {
		return err
	}
	flags := append([]string{"--oidc-issuer=" + s.URL, "--oidc-audience=school", "--oidc-keys-url=" + s.URL + "/keys"}, s.options.Gateway...)
	process, url, err := harness.Gateway{Program: s.program("gateway"), Kubeconfig: kubeconfig, Log: s.log("gateway"), Flags: flags}.Start(ctx)
	s.Gateways = append(s.Gateways, url)
	return s.Processes.Add(process, err)
}

func (s *School) startExample(ctx context.Context, address string) error {
	flags := append([]string{
		"--listen=" + address, "--gateways=" + strings.Join(s.Gateways, ","), "--receiver=" + s.receiver,
		"--ledger=" + s.Ledger, "--client=" + s.client(), "--namespace=" + Namespace,
	}, s.options.Example...)
	process, err := harness.Launch("example", s.log("example"), nil, s.program("homework"), flags...)
	if err := s.Processes.Add(process, err); err != nil {
		return err
	}
	return process.Await(ctx, func(ctx context.Context) bool { return harness.Answers(ctx, s.URL) })
}

func (s *School) program(name string) string { return filepath.Join(s.bin, name) }

func (s *School) log(name string) string { return filepath.Join(s.Plane.Dir, name+".log") }

// patience is longer than what is under way may take to end.
const patience = time.Minute

// Close ends everything.
func (s *School) Close() error {
	errs := []error{s.Processes.Stop(patience)}
	if s.Plane != nil {
		errs = append(errs, s.Plane.Stop())
	}
	return errors.Join(append(errs, os.RemoveAll(s.bin))...)
}
