package submit

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// carryTrace has the operator, and the receiver after it, continue the span of ctx, where there is one and the action names no
// other.
func carryTrace(ctx context.Context, object *v1alpha1.TaskSubmission) {
	if object.Annotations[v1alpha1.AnnotationTraceparent] != "" {
		return
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	if traceparent := carrier["traceparent"]; traceparent != "" {
		metav1.SetMetaDataAnnotation(&object.ObjectMeta, v1alpha1.AnnotationTraceparent, traceparent)
	}
}
