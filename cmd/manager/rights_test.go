package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/taskonce/taskonce/internal/controller"
)

// TestEveryRightIsAskedFor holds what the start asks for, as the manifest runs the operator, against the roles that it is given:
// a right that is missing there is noticed, and none is asked for that nobody grants.
func TestEveryRightIsAskedFor(t *testing.T) {
	o := rightsWith(t, "--leader-elect")
	asked := map[string]bool{}
	for _, right := range controller.Rights(o.namespaces, o.rights()...) {
		for verb := range strings.FieldsSeq(right.Verbs) {
			asked[strings.Join([]string{right.Namespace, verb, right.Group, strings.Trim(right.Resource+"/"+right.Subresource, "/"), right.Name}, " ")] = true
		}
	}
	given := map[string]bool{}
	for _, file := range []string{"role.yaml", "leader_election_role.yaml", "metrics_auth_role.yaml"} {
		grants(t, filepath.Join("..", "..", "config", "rbac", file), given)
	}
	anyName := func(right string) string { return right[:strings.LastIndex(right, " ")+1] }
	for right := range asked {
		if !given[right] && !given[anyName(right)] {
			t.Errorf("asked for and not given: %s", right)
		}
		delete(given, right)
		delete(given, anyName(right))
	}
	for right := range given {
		t.Errorf("given and not asked for: %s", right)
	}
}

// grants adds each part of what the roles of a file allow.
func grants(t *testing.T, path string, to map[string]bool) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for decoder := utilyaml.NewYAMLOrJSONDecoder(file, 4096); ; {
		role := &rbacv1.Role{}
		if err := decoder.Decode(role); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					names := rule.ResourceNames
					if len(names) == 0 {
						names = []string{""}
					}
					for _, name := range names {
						to[strings.Join([]string{role.Namespace, verb, rule.APIGroups[0], resource, name}, " ")] = true
					}
				}
			}
		}
	}
}

// TestEachModeAsksForItsRights, and for no more.
func TestEachModeAsksForItsRights(t *testing.T) {
	const lease, who, certificate = "leases leases events", "tokenreviews", "secrets secrets mutatingwebhookconfigurations validatingwebhookconfigurations"
	for _, row := range []struct{ arguments, want string }{
		{"", certificate + " " + who + " subjectaccessreviews"},
		{"--leader-elect --webhook-bind-address=0 --metrics-bind-address=0", lease},
		{"--webhook-bind-address=0 --metrics-authentication=none", ""},
		{"--webhook-bind-address=0", who + " subjectaccessreviews"},
		{"--webhook-cert-dir=/certificate --metrics-bind-address=0", "subjectaccessreviews"},
		{"--metrics-bind-address=0", certificate + " subjectaccessreviews"},
	} {
		var got []string
		for _, right := range rightsWith(t, strings.Fields(row.arguments)...).rights() {
			got = append(got, right.Resource)
		}
		if !slices.Equal(got, strings.Fields(row.want)) {
			t.Errorf("%s: %v, want %s", row.arguments, got, row.want)
		}
	}
}

// rightsWith are options of an operator in the namespace that config/rbac names.
func rightsWith(t *testing.T, arguments ...string) *options {
	t.Helper()
	o, err := parse(append(arguments, "--leader-election-namespace=system", "--webhook-service-namespace=system"), none, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
