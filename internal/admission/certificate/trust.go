package certificate

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// tell writes the authorities into the webhook configurations, and reports whether that was news to one of them.
func (k *Keeper) tell(ctx context.Context, authorities []byte) (bool, error) {
	mutating, validating := &admissionregistrationv1.MutatingWebhookConfiguration{}, &admissionregistrationv1.ValidatingWebhookConfiguration{}
	first, errFirst := k.tellOne(ctx, mutating, func() (changed bool) {
		for i := range mutating.Webhooks {
			changed = trust(&mutating.Webhooks[i].ClientConfig, authorities) || changed
		}
		return changed
	})
	second, errSecond := k.tellOne(ctx, validating, func() (changed bool) {
		for i := range validating.Webhooks {
			changed = trust(&validating.Webhooks[i].ClientConfig, authorities) || changed
		}
		return changed
	})
	return first || second, errors.Join(errFirst, errSecond)
}

func (k *Keeper) tellOne(ctx context.Context, configuration client.Object, change func() bool) (bool, error) {
	if err := k.Client.Get(ctx, client.ObjectKey{Name: k.Configurations}, configuration); err != nil {
		return false, fmt.Errorf("the webhook configuration %q: %w; apply config/webhook", k.Configurations, err)
	}
	if !change() {
		return false, nil
	}
	if err := k.Client.Update(ctx, configuration); err != nil {
		return false, fmt.Errorf("telling the API server whom to trust: %w", err)
	}
	return true, nil
}

func trust(webhook *admissionregistrationv1.WebhookClientConfig, authorities []byte) bool {
	if bytes.Equal(webhook.CABundle, authorities) {
		return false
	}
	webhook.CABundle = authorities
	return true
}
