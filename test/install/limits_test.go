package install_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/validation"
)

// TestEveryNameIsAllowed renders everything with names that Helm, or the chart, only just allows, and holds each object's name
// against what the API server allows for its kind.
func TestEveryNameIsAllowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const everything = "gateway.page.enabled=true,gateway.page.authentication=delegated,gateway.networkPolicy.enabled=true,networkPolicy.enabled=true," +
		"webhook.certificate.source=cert-manager,metrics.serviceMonitor.enabled=true,metrics.rules.enabled=true,metrics.dashboards.enabled=true," + verifying
	longest := strings.Repeat("a", 53)
	for _, c := range []struct{ release, override string }{
		{release: longest}, {release: "taskonce-" + longest[9:]}, {release: "averylongreleasename"}, {release: "9" + longest[1:]}, {release: "v1.taskonce"}, {release: "short", override: longest[:28]},
	} {
		for _, namespaces := range []string{"{}", "{shop}"} {
			settings := everything + ",gateway.oidc.namespaces={shop},metrics.authentication=delegated,fullnameOverride=" + c.override
			if namespaces != "{}" {
				settings += ",namespaces=" + namespaces
			}
			for name, object := range objects(t, w.render(c.release, "elsewhere", "--set", settings)) {
				isAllowed(t, c.release, name, object)
			}
		}
	}
	if out, err := w.helm("template", "short", "dist/chart", "--set", "fullnameOverride="+longest[:29]); err == nil || !strings.Contains(out, "schema") {
		t.Errorf("a longer one was not refused by the schema: %s", out)
	}
}

// isAllowed checks the name of an object as the API server does for its kind.
func isAllowed(t *testing.T, release, which string, object map[string]any) {
	t.Helper()
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	check := validation.NameIsDNSSubdomain
	if object["kind"] == "Service" {
		check = validation.NameIsDNS1035Label
	}
	for _, wrong := range check(name, false) {
		t.Errorf("release %s: %s (%d characters): %s", release, which, len(name), wrong)
	}
}
