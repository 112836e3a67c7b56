package gateway_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/test/harness"
)

// installed is what all tests share.
type installed struct {
	plane      *harness.ControlPlane
	bin        string
	receiver   string
	kubeconfig string // the gateway's own
	// passing and verifying are gateways in both modes.
	passing, verifying string
	issuer             issuer
}

var installation installed

func TestMain(m *testing.M) {
	harness.Main(func() (int, error) { return run(m) })
}

func run(m *testing.M) (code int, err error) {
	ctx, i := context.Background(), &installation
	if i.bin, err = os.MkdirTemp("", "gateway"); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(i.bin)) }()
	if err := harness.Build(ctx, i.bin, "", "./cmd/manager", "./cmd/gateway", "./test/receiver"); err != nil {
		return 1, err
	}
	if i.plane, err = harness.Start(harness.Options{CRDs: true}); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, i.plane.Stop()) }()
	receiver, address, err := harness.LaunchReceiver(ctx, filepath.Join(i.bin, "receiver"), i.log("receiver"), filepath.Join(i.plane.Dir, "ledger.jsonl"))
	if err != nil {
		return 1, err
	}
	i.receiver = address
	defer receiver.Kill()
	manager, err := startManager(ctx)
	if err != nil {
		return 1, err
	}
	defer manager.Kill()
	if i.issuer.Issuer, err = harness.NewIssuer(); err != nil {
		return 1, err
	}
	defer i.issuer.Close()
	gateways, err := startGateways(ctx)
	defer func() {
		for _, gateway := range gateways {
			gateway.Kill()
		}
	}()
	if err != nil {
		return 1, err
	}
	return m.Run(), nil
}

func startManager(ctx context.Context) (*harness.Process, error) {
	i := &installation
	kubeconfig, err := i.plane.ManagerKubeconfig(ctx)
	if err != nil {
		return nil, err
	}
	webhooks, err := harness.UnusedAddress()
	if err != nil {
		return nil, err
	}
	if err := i.plane.InstallAdmission(ctx, webhooks); err != nil {
		return nil, err
	}
	manager, err := harness.Manager{Program: filepath.Join(i.bin, "manager"), Kubeconfig: kubeconfig, Log: i.log("manager"), Webhooks: webhooks}.Start(ctx)
	if err != nil {
		return nil, err
	}
	if err := i.plane.AwaitWebhooks(ctx); err != nil {
		return manager, err
	}
	return manager, exempt(ctx, i.plane)
}

// withoutWebhooks is the label of namespaces that the webhook for submissions does not see, as where none is installed.
const withoutWebhooks = "without-webhooks"

func exempt(ctx context.Context, plane *harness.ControlPlane) error {
	api, err := client.New(plane.Config, client.Options{})
	if err != nil {
		return err
	}
	found := &admissionregistrationv1.MutatingWebhookConfiguration{}
	if err := api.Get(ctx, client.ObjectKey{Name: "taskonce-admission"}, found); err != nil {
		return err
	}
	before := client.MergeFromWithOptions(found.DeepCopy(), client.MergeFromWithOptimisticLock{})
	for i := range found.Webhooks {
		found.Webhooks[i].NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: withoutWebhooks, Operator: metav1.LabelSelectorOpDoesNotExist}}}
	}
	return api.Patch(ctx, found, before)
}

func startGateways(ctx context.Context) (started []*harness.Process, err error) {
	i := &installation
	if i.kubeconfig, err = i.plane.GatewayKubeconfig(ctx); err != nil {
		return nil, err
	}
	for _, g := range []struct {
		url   *string
		flags []string
	}{
		{&i.passing, []string{"--max-body-bytes=4096", "--rate=0", "--default-wait=60s", "--cors-origins=https://school.example"}},
		{&i.verifying, []string{"--oidc-issuer=" + i.issuer.URL, "--oidc-audience=" + harness.IssuerAudience, "--rate=0", "--default-wait=60s"}},
	} {
		process, url, err := i.gateway(ctx, g.flags...)
		if process != nil {
			started = append(started, process)
		}
		if err != nil {
			return started, err
		}
		*g.url = url
	}
	return started, nil
}

func (i *installed) gateway(ctx context.Context, flags ...string) (*harness.Process, string, error) {
	return harness.Gateway{Program: filepath.Join(i.bin, "gateway"), Kubeconfig: i.kubeconfig, Log: i.log("gateway"), Flags: flags}.Start(ctx)
}

func (i *installed) log(name string) string { return filepath.Join(i.plane.Dir, name+".log") }
