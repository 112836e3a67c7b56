package httpcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

func bearing(name, key string) func(*v1alpha1.TaskTemplateSpec) {
	return func(spec *v1alpha1.TaskTemplateSpec) {
		spec.Effect.HTTP.Auth = &v1alpha1.HTTPAuth{Bearer: from(name, key)}
	}
}

func loggedIn(name string) func(*v1alpha1.TaskTemplateSpec) {
	return func(spec *v1alpha1.TaskTemplateSpec) {
		spec.Effect.HTTP.Auth = &v1alpha1.HTTPAuth{Basic: &v1alpha1.SecretSource{SecretRef: v1alpha1.SecretRef{Name: name}}}
	}
}

func TestAuthorization(t *testing.T) {
	options := local()
	options.Secret = secretsOf(map[string]string{
		"pay/token": "t0ken-value\n", "login/username": "svc", "login/password": "s3cret:väl\n", "colon/username": "a:b", "colon/password": "x",
		"half/username": "svc", "broken/token": "a\x00b",
	})
	r := receive(t, says(200, "{}"))
	for name, c := range map[string]struct {
		change func(*v1alpha1.TaskTemplateSpec)
		want   string
	}{
		"Bearer": {bearing("pay", "token"), "Bearer t0ken-value"},
		"Basic":  {loggedIn("login"), "Basic c3ZjOnMzY3JldDp2w6Rs"},
	} {
		if outcome := executed(t, options, post(r.url(), c.change)); outcome.Kind != applied {
			t.Fatalf("%s: got %+v", name, outcome)
		}
		if all := r.all(); all[len(all)-1].Header.Get("Authorization") != c.want {
			t.Errorf("%s: got %q, want %q", name, all[len(all)-1].Header.Get("Authorization"), c.want)
		}
	}
	before := r.count()
	for name, c := range map[string]struct {
		change  func(*v1alpha1.TaskTemplateSpec)
		message string
	}{
		"no token":          {bearing("pay", "other"), `the Secret "pay" has no key "other"`},
		"a token unfit":     {bearing("broken", "token"), "cannot hold"},
		"no Secret":         {loggedIn("nobody"), `the Secret "nobody" has no key "username"`},
		"no password":       {loggedIn("half"), `the Secret "half" has no key "password"`},
		"a colon in a name": {loggedIn("colon"), "holds a colon"},
	} {
		_, err := compiled(t, options, post(r.url(), c.change)).Execute(t.Context(), effecttest.NewAttempt(1))
		var missing *effect.DependencyError
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), c.message) || r.count() != before {
			t.Errorf("%s: it is waited for: got %v after %d requests", name, err, r.count()-before)
		}
	}
}

// TestASecretIsReadOnceForEachRequest: between two reads it may be renewed, and its keys go together.
func TestASecretIsReadOnceForEachRequest(t *testing.T) {
	reads := 0
	options := local()
	options.Secret = func(context.Context, string, string) (map[string][]byte, error) {
		reads++
		return map[string][]byte{"username": fmt.Append(nil, "user", reads), "password": fmt.Append(nil, "password", reads)}, nil
	}
	r := receive(t, says(200, "{}"))
	one := compiled(t, options, post(r.url(), loggedIn("login"), secretHeader("X-User", "login", "username")))
	for n, want := range []string{"user1:password1", "user2:password2"} {
		if _, err := one.Execute(t.Context(), effecttest.NewAttempt(1)); err != nil {
			t.Fatal(err)
		}
		user, password, _ := (&http.Request{Header: r.all()[n].Header}).BasicAuth()
		if got := user + ":" + password; got != want || r.all()[n].Header.Get("X-User") != user {
			t.Errorf("request %d was sent with %s and X-User %s, want %s", n+1, got, r.all()[n].Header.Get("X-User"), want)
		}
	}
}

// TestPrepareReadsWhatTheRequestNeeds: and sends nothing.
func TestPrepareReadsWhatTheRequestNeeds(t *testing.T) {
	options, held := local(), map[string]string{}
	options.Secret = func(ctx context.Context, namespace, name string) (map[string][]byte, error) {
		return secretsOf(held)(ctx, namespace, name)
	}
	r := receive(t, says(200, "{}"))
	one := compiled(t, options, post(r.url(), bearing("pay", "token")))
	var missing *effect.DependencyError
	if err := one.Prepare(t.Context(), effecttest.NewAttempt(1)); !errors.As(err, &missing) || !strings.Contains(err.Error(), `no key "token"`) {
		t.Errorf("got %v", err)
	}
	held["pay/token"] = "t0ken"
	if err := one.Prepare(t.Context(), effecttest.NewAttempt(1)); err != nil || r.count() != 0 {
		t.Errorf("got %v after %d requests", err, r.count())
	}
}

func TestCredentialsAreInNoOutcome(t *testing.T) {
	options := local()
	options.Secret = secretsOf(map[string]string{"pay/token": "t0ken-value", "login/username": "svc", "login/password": "s3cret-value"})
	for name, change := range map[string]func(*v1alpha1.TaskTemplateSpec){"Bearer": bearing("pay", "token"), "Basic": loggedIn("login")} {
		r := receive(t, func(_ int, one seen, w io.Writer) bool {
			write(w, 200, `{"you sent":"`+one.Header.Get("Authorization")+`","again":"s3cret-value"}`)
			return true
		})
		raw, _ := json.Marshal(executed(t, options, post(r.url(), change)))
		for _, secret := range []string{"t0ken-value", "s3cret-value", "c3ZjOnMzY3JldC12YWx1ZQ"} {
			if strings.Contains(string(raw), secret) {
				t.Errorf("%s: it leaks: %s", name, raw)
			}
		}
	}
}
