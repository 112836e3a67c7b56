package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/web/school"
)

// office is the namespace that the page shows: nothing of the school's is in it.
const office = "office"

// hostile is a key that would be markup, were it not text; and it has no place to break it.
var hostile = `<img src=x onerror="document.title='broken'"><script>document.title='broken'</script>&amp;` + strings.Repeat("W", 300)

const furniture = `
apiVersion: taskonce.dev/v1alpha1
kind: TaskTemplate
metadata: {name: approved}
spec:
  approval: {required: true}
  effect: {http: {url: "%[1]s/plain/office"}}
---
apiVersion: taskonce.dev/v1alpha1
kind: TaskTemplate
metadata: {name: slow}
spec:
  effect: {http: {url: "%[1]s/hold/office", timeout: 10m}}
---
apiVersion: taskonce.dev/v1alpha1
kind: TaskSubmission
metadata: {name: %[2]s}
spec: {idempotencyKey: %[3]s, templateRef: {name: approved}, parameters: {card: "a secret"}}
---
apiVersion: taskonce.dev/v1alpha1
kind: TaskSubmission
metadata: {name: print-letter-12}
spec: {templateRef: {name: slow}, parameters: {card: "a secret"}}
`

// openOffice makes it, with something that waits for a person and something in process, and returns the URL of its page.
func openOffice(ctx context.Context, s *school.School) (string, error) {
	if _, _, err := s.Plane.Kubectl(ctx, "create", "namespace", office); err != nil {
		return "", err
	}
	name, err := v1alpha1.NameForKey(hostile)
	if err != nil {
		return "", err
	}
	key, err := json.Marshal(hostile)
	if err != nil {
		return "", err
	}
	manifest := filepath.Join(s.Plane.Dir, "office.yaml")
	if err := os.WriteFile(manifest, fmt.Appendf(nil, furniture, s.Receiver(), name, key), 0o600); err != nil {
		return "", err
	}
	if _, _, err := s.Plane.Kubectl(ctx, "apply", "-n", office, "-f", manifest); err != nil {
		return "", err
	}
	return s.OpenPage(ctx, office)
}
