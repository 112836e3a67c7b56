package page

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

var noon = time.Date(2027, time.March, 1, 12, 0, 30, 0, time.UTC)

// row is a submission that was made some time ago.
func row(name string, phase v1alpha1.Phase, reason v1alpha1.Reason, ago time.Duration, edits ...func(*Row)) Row {
	r := Row{
		NamespacedName: types.NamespacedName{Namespace: "shop", Name: name}, Template: "refund", Phase: phase, Reason: reason,
		Created: noon.Add(-ago), Stalled: noon.Add(-ago),
	}
	for _, edit := range edits {
		edit(&r)
	}
	return r
}

// done is one that finished some time ago, and took some time for it.
func done(phase v1alpha1.Phase, ago, took time.Duration, edits ...func(*Row)) Row {
	return row("done", phase, v1alpha1.ReasonApplied, ago+took, append(edits, func(r *Row) { r.Ended = noon.Add(-ago) })...)
}
