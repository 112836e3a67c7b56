package page

import (
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestOneNamespaceDoesNotHideTheOthers: what cannot be read is named, once, and the rest is shown.
func TestOneNamespaceDoesNotHideTheOthers(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{}, "", nil)
	of := func(namespace string, there bool, until time.Time, wrong error) *source {
		return &source{namespace: namespace, contact: &contact{now: atNoon, there: there, until: until, wrong: wrong}}
	}
	live, closed, unread := of("shop", true, time.Time{}, nil), of("school", false, time.Time{}, forbidden), of("bank", false, time.Time{}, nil)
	lost := of("shop", false, noon.Add(-time.Minute), errors.New("connection refused"))
	taken := of("shop", false, noon.Add(-time.Minute), forbidden)
	for _, test := range []struct {
		reason           string
		sources          []*source
		asOf             time.Time
		trouble, missing string // what they name; empty: nothing is said
	}{
		{"nothing is looked at", nil, noon, "", ""},
		{"all is well", []*source{live, live}, noon, "", ""},
		{"one may not be read", []*source{live, closed, closed}, noon, "", "namespace school:"},
		{"none may be read", []*source{closed, closed}, time.Time{}, "namespace school:", ""},
		{"one is being read", []*source{live, unread}, time.Time{}, "", ""},
		{"one is lost, and another may not be read", []*source{closed, lost, live}, noon.Add(-time.Minute), "does not answer", "namespace school:"},
		{"a right was taken away", []*source{taken, live}, noon.Add(-time.Minute), "namespace shop:", ""},
	} {
		got := stand(test.sources, noon)
		if !got.asOf.Equal(test.asOf) {
			t.Errorf("%s: it is as of %s", test.reason, got.asOf)
		}
		for _, pair := range [][2]string{{got.trouble, test.trouble}, {got.missing, test.missing}} {
			if said, want := pair[0], pair[1]; (said == "") != (want == "") || want != "" && strings.Count(said, want) != 1 {
				t.Errorf("%s: it says %q, want %q", test.reason, said, want)
			}
		}
	}
}
