package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/internal/effect"
)

// secretReader reads one Secret, live, at the time of use. A missing one is waited for. The client must not
// read Secrets from a cache.
func secretReader(reader client.Reader) effect.SecretReader {
	return func(ctx context.Context, namespace, name string) (map[string][]byte, error) {
		secret := &corev1.Secret{}
		err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret)
		switch {
		case apierrors.IsNotFound(err):
			return nil, effect.Missing("the Secret %q does not exist in this namespace: create it", name)
		case apierrors.IsForbidden(err):
			return nil, effect.Missing("the operator may not read the Secret %q: grant its service account get on secrets", name)
		case err != nil:
			return nil, effect.Missing("the Secret %q could not be read: %v", name, err)
		}
		return secret.Data, nil
	}
}
