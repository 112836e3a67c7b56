package gateway_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestPagesOfOtherOrigins may not use the gateway from a browser, and those that were named may.
func TestPagesOfOtherOrigins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	preflight := func(origin string) http.Header {
		return w.send(installation.passing, "", asked{method: http.MethodOptions, header: map[string]string{
			"Origin": origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type,idempotency-key,prefer",
		}}).header
	}
	if allowed := preflight("https://school.example"); allowed.Get("Access-Control-Allow-Origin") != "https://school.example" || allowed.Get("Access-Control-Allow-Headers") == "" {
		t.Errorf("the page that was named: %v", allowed)
	}
	if refused := preflight("https://elsewhere.example"); refused.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("another page: %v", refused)
	}
	got := w.send(installation.passing, w.token, reads("/nothing", with("Origin", "https://school.example")))
	if exposed := got.header.Get("Access-Control-Expose-Headers"); !strings.Contains(exposed, "Retry-After") || !strings.Contains(exposed, "Idempotency-Replayed") {
		t.Errorf("a page sees only %q", exposed)
	}
}
