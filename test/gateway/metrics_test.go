package gateway_test

import (
	"context"
	"crypto/tls"
	"net/http"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestWhoReadsTheMetrics: as installed, the API server is asked, for which the gateway has exactly the rights of config/gateway.
func TestWhoReadsTheMetrics(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	metrics := unused(t)
	process, _, err := installation.gateway(t.Context(), "--metrics-bind-address="+metrics)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Kill)
	reader := w.account("reader")
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace + "-metrics-reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "taskonce-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: w.namespace, Name: "reader"}},
	}
	if err := w.admin.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	var last int
	if err := process.Await(t.Context(), func(ctx context.Context) bool {
		last = asks(ctx, "https://"+metrics+"/metrics", reader)
		return last == http.StatusOK
	}); err != nil {
		t.Fatalf("who may read them gets %d: %v", last, err)
	}
	for token, wanted := range map[string]int{"": http.StatusUnauthorized, w.token: http.StatusForbidden} {
		if got := asks(t.Context(), "https://"+metrics+"/metrics", token); got != wanted {
			t.Errorf("%.10q gets %d, want %d", token, got, wanted)
		}
	}
}

// asks returns the status that a bearer of a token gets, or 0 where nobody answers.
func asks(ctx context.Context, url, token string) int {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	anybody := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	response, err := anybody.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}
