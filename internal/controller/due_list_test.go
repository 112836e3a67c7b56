package controller

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// TestAListThatIsOutdatedIsNoFault: it is not complete, the other namespaces are listed all the same, and nothing is reported.
func TestAListThatIsOutdatedIsNoFault(t *testing.T) {
	broken := errors.New("connection refused")
	for reason, tt := range map[string]struct {
		err      error // of the first namespace
		complete bool
		reported error
	}{
		"all came":                          {nil, true, nil},
		"it took longer than it is kept":    {apierrors.NewResourceExpired("too old"), false, nil},
		"the API server could not be asked": {broken, false, broken},
	} {
		var listed []string
		complete, err := (&DueLoop{Namespaces: []string{"a", "b"}}).everywhere(func(namespace string) error {
			if listed = append(listed, namespace); namespace == "a" {
				return tt.err
			}
			return nil
		})
		if complete != tt.complete || !errors.Is(err, tt.reported) || len(listed) != 2 {
			t.Errorf("%s: complete %t, %v, after %v", reason, complete, err, listed)
		}
	}
}
