package httpcall

import (
	"context"
	"encoding/base64"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

// login is what the header Authorization is made of: a token (RFC 6750), or the user and password of the Secret of
// that name (RFC 7617). Exactly one is set.
type login struct {
	bearer *v1alpha1.SecretKeyRef
	basic  string
}

// read returns the header's value, and what of it must be in no outcome.
func (l *login) read(ctx context.Context, c *client, namespace string) (value string, shown secrets, err error) {
	if l.bearer != nil {
		token, err := c.readForHeader(ctx, namespace, l.bearer, "Authorization")
		return "Bearer " + token, secrets{token}, err
	}
	user, err := c.readForHeader(ctx, namespace, &v1alpha1.SecretKeyRef{Name: l.basic, Key: corev1.BasicAuthUsernameKey}, "Authorization")
	if err != nil {
		return "", nil, err
	}
	if strings.Contains(user, ":") {
		return "", nil, effect.Missing("the %s in the Secret %q holds a colon, which Basic authentication cannot send", corev1.BasicAuthUsernameKey, l.basic)
	}
	password, err := c.readForHeader(ctx, namespace, &v1alpha1.SecretKeyRef{Name: l.basic, Key: corev1.BasicAuthPasswordKey}, "Authorization")
	if err != nil {
		return "", nil, err
	}
	encoded := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	return "Basic " + encoded, secrets{encoded, password}, nil
}
