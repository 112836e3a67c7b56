package inbox_test

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/inbox"
)

// holding is an API server that has a claim and the record that holds it.
type holding struct {
	client.Reader
	holder v1alpha1.Action
}

func (h *holding) Get(_ context.Context, name types.NamespacedName, into client.Object, _ ...client.GetOption) error {
	record, ok := into.(*v1alpha1.TaskRecord)
	switch {
	case ok && name.Name == "the-claim":
		record.Spec.Holder = &v1alpha1.Holder{Record: "the-holder"}
	case ok && name.Name == "the-holder":
		record.Spec.Action = &h.holder
	default:
		return apierrors.NewNotFound(schema.GroupResource{}, name.Name)
	}
	return nil
}

// Whoever waits for a business key is in the inbox where nobody but a person frees it.
func TestAHolderIsStuckWhereItIsLeftAlone(t *testing.T) {
	soon, later := metav1.NewMicroTime(time.Unix(1, 0)), metav1.NewTime(time.Unix(2, 0))
	between := v1alpha1.Attempt{Number: 1, Outcome: v1alpha1.OutcomeNotApplied}
	for _, test := range []struct {
		reason string
		holder v1alpha1.Action
		stuck  bool
	}{
		{"left alone until it expires", v1alpha1.Action{Attempt: between, ExpiresAt: &later}, true},
		{"left alone for good", v1alpha1.Action{Attempt: between}, true},
		{"between attempts", v1alpha1.Action{Attempt: between, NextAt: &soon}, false},
		{"carried out", v1alpha1.Action{Attempt: v1alpha1.Attempt{Number: 1}}, false},
		{"in doubt: its own line in the inbox", v1alpha1.Action{Attempt: v1alpha1.Attempt{Number: 1, Outcome: v1alpha1.OutcomeUnknown}, Unsettled: true}, false},
		{"ended", v1alpha1.Action{Phase: v1alpha1.PhaseSuccess, Attempt: between, ExpiresAt: &later}, false},
		{"ended, and kept for good", v1alpha1.Action{Phase: v1alpha1.PhaseFailed, Attempt: between}, false},
	} {
		waiting := &v1alpha1.TaskRecord{Spec: v1alpha1.TaskRecordSpec{Action: &v1alpha1.Action{Reason: v1alpha1.ReasonBusinessKeyHeld, Claim: "the-claim"}}}
		s, err := (&inbox.Reader{API: &holding{holder: test.holder}}).Abandoned(t.Context(), types.NamespacedName{Namespace: "shop", Name: "second"}, waiting)
		if err != nil || s.Holder.Stuck != test.stuck {
			t.Errorf("%s: stuck: %t, %v", test.reason, s.Holder.Stuck, err)
		}
	}
}
