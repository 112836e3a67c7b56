package gateway

import (
	"context"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/pkg/submit"
)

// TestProblemFromSubmit: above all, a refusal that came after a lost answer is not told as one.
func TestProblemFromSubmit(t *testing.T) {
	resource := schema.GroupResource{Group: "taskonce.dev", Resource: "tasksubmissions"}
	forbids := func(text string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: `tasksubmissions.taskonce.dev "a" is forbidden: ` + text}}
	}
	rbac, quota := forbids(`User "system:serviceaccount:x:y" cannot create resource`), forbids("exceeded quota: few")
	refused := func(err error) error { return &submit.RefusedError{Name: "a", Err: err} }
	standing := func(phase v1alpha1.Phase, reason v1alpha1.Reason) *v1alpha1.TaskSubmission {
		s := &v1alpha1.TaskSubmission{}
		s.Name, s.Status.Phase, s.Status.Reason = "a", phase, reason
		return s
	}
	passing, verified := &Caller{}, &Caller{Claims: map[string]any{}}
	for _, test := range []struct {
		reason string
		caller *Caller
		err    error
		want   ProblemType
		says   string
	}{
		{"a lost answer", passing, &submit.UnknownError{Name: "a", Err: context.DeadlineExceeded}, unanswered, "send the same request again"},
		{"a refusal after a lost answer", passing, &submit.UnknownError{Name: "a", Err: refused(rbac)}, unanswered, ""},
		{"another action after a lost answer", passing, &submit.UnknownError{Name: "a", Err: &submit.BlockedError{Existing: standing(v1alpha1.PhaseFailed, v1alpha1.ReasonKeyReused)}}, unanswered, ""},
		{"another action", passing, &submit.OtherPayloadError{Existing: standing(v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)}, keyReused, ""},
		{"what failed for its input", passing, &submit.BlockedError{Existing: standing(v1alpha1.PhaseFailed, v1alpha1.ReasonKeyReused)}, keyBlocked, "KeyReused"},
		{"what nobody has looked at", passing, &submit.BlockedError{Existing: standing(v1alpha1.PhasePending, "")}, unavailable, "not known yet"},
		{"a right that the caller lacks", passing, refused(rbac), forbidden, "cannot create"},
		{"a right that the gateway lacks", verified, refused(rbac), forbidden, "was not given this namespace"},
		{"a quota", verified, refused(quota), forbidden, "exceeded quota"},
		{"no such namespace", passing, refused(apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "nowhere")), noSuchNamespace, "nowhere"},
		{"too large", passing, refused(apierrors.NewRequestEntityTooLargeError("3 MiB")), tooLarge, ""},
		{"a token that has ended", passing, refused(apierrors.NewUnauthorized("no")), unauthenticated, ""},
		{"the gateway's own has ended", verified, refused(apierrors.NewUnauthorized("no")), unavailable, ""},
		{"it is gone", passing, refused(apierrors.NewNotFound(resource, "a")), notFound, ""},
		{"no time", passing, context.DeadlineExceeded, unavailable, ""},
	} {
		ctx := context.WithValue(t.Context(), callerKey{}, test.caller)
		got := problemFromSubmit(ctx, test.err)
		if got.Type != test.want.Type() || !strings.Contains(got.Detail, test.says) {
			t.Errorf("%s: %s, %q", test.reason, got.Type, got.Detail)
		}
		if (got.Status == http.StatusServiceUnavailable) != (got.header.Get("Retry-After") != "") {
			t.Errorf("%s: %v", test.reason, got.header)
		}
	}
}
