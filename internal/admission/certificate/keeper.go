package certificate

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/taskonce/taskonce/internal/telemetry"
)

// To get it is part of the right to get any Secret.
// +kubebuilder:rbac:groups="",namespace=system,resources=secrets,verbs=create
// +kubebuilder:rbac:groups="",namespace=system,resources=secrets,resourceNames=taskonce-webhook-cert,verbs=update
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=mutatingwebhookconfigurations;validatingwebhookconfigurations,resourceNames=taskonce-admission,verbs=get;update

// Lifetime of a certificate. A third of it is left when it is renewed.
const Lifetime = 90 * 24 * time.Hour

// lookEvery is the time between two looks at the Secret, and retryAfter that after one which failed.
const (
	lookEvery  = time.Minute
	retryAfter = 5 * time.Second
)

// Keeper keeps a certificate valid, trusted and in memory. It runs on every replica.
type Keeper struct {
	// Client reads live, and writes.
	Client client.Client
	// Secret holds certificate and key.
	Secret types.NamespacedName
	// Host is the name that the API server calls, <service>.<namespace>.svc.
	Host string
	// Configurations is the name of the webhook configurations, of both kinds, that are told whom to trust.
	Configurations string
	// Lifetime of a new certificate.
	Lifetime time.Duration
	Clock    clock.Clock

	serving atomic.Pointer[tls.Certificate]
}

// NeedLeaderElection tells the manager to run it on every replica.
func (k *Keeper) NeedLeaderElection() bool { return false }

// GetCertificate is for tls.Config: each handshake gets the newest.
func (k *Keeper) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if serving := k.serving.Load(); serving != nil {
		return serving, nil
	}
	return nil, errors.New("there is no certificate yet; the log says why")
}

// Start looks until ctx ends.
func (k *Keeper) Start(ctx context.Context) error {
	for {
		wait := lookEvery
		if err := k.Look(ctx); err != nil && ctx.Err() == nil {
			wait = retryAfter
			logf.FromContext(ctx).Error(err, "keeping the webhooks' certificate; it is tried again, and submissions do not depend on it")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-k.Clock.After(wait):
		}
	}
}

var errWait = errors.New("the new certificate is served when the API server has had time to trust it")

// Look renews what is due, and serves what the API server trusts. The order matters: a new authority is written where
// it will be trusted before anybody serves its certificate; only who has nothing valid to serve does not wait.
func (k *Keeper) Look(ctx context.Context) error {
	current, err := k.stored(ctx)
	if err != nil {
		return err
	}
	told, err := k.tell(ctx, current.authorities)
	if old := k.serving.Load(); old != nil && !bytes.Equal(old.Certificate[0], current.serving.Certificate[0]) && k.Clock.Now().Before(old.Leaf.NotAfter) {
		if err != nil {
			return err
		}
		if told {
			return errWait
		}
	}
	k.serving.Store(current.serving)
	telemetry.ShowCertificate(current.serving.Leaf)
	return err
}

// stored returns what the Secret holds, after making it anew where that is due.
func (k *Keeper) stored(ctx context.Context) (*material, error) {
	secret := &corev1.Secret{}
	err := k.Client.Get(ctx, k.Secret, secret)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("reading the Secret %s: %w", k.Secret, err)
	}
	missing := apierrors.IsNotFound(err)
	now := k.Clock.Now()
	current, reason := parse(secret.Data, k.Host, now)
	if reason == nil {
		return current, nil
	}
	logf.FromContext(ctx).Info("making a certificate for the webhooks", "host", k.Host, "because", reason.Error())
	data, err := newMaterial(k.Host, k.Lifetime, now, secret.Data[caKey])
	if err != nil {
		return nil, err
	}
	secret.Data = data
	if missing {
		secret.ObjectMeta = metav1.ObjectMeta{Namespace: k.Secret.Namespace, Name: k.Secret.Name}
		secret.Type = corev1.SecretTypeTLS
		err = k.Client.Create(ctx, secret)
	} else {
		err = k.Client.Update(ctx, secret)
	}
	if err != nil {
		return nil, fmt.Errorf("storing the certificate in the Secret %s: %w", k.Secret, err) // another replica was first, mostly
	}
	return parse(data, k.Host, now)
}
