package admission

import (
	"encoding/json"
	"strings"

	"gomodules.xyz/jsonpatch/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// namePerson writes the authenticated user into an annotation that is absent. One that is there stays, and the API
// server's own policy refuses it where it names somebody else, whether this webhook is up or not.
func namePerson(object metav1.Object, annotation, user string) []jsonpatch.Operation {
	if object.GetAnnotations()[annotation] != "" {
		return nil
	}
	return []jsonpatch.Operation{annotate(object, annotation, user)}
}

// keepPerson gives an annotation back to an update that drops it, as replacing an object by its manifest does.
func keepPerson(old, updated metav1.Object, annotation string) []jsonpatch.Operation {
	person := old.GetAnnotations()[annotation]
	if _, kept := updated.GetAnnotations()[annotation]; kept || person == "" {
		return nil
	}
	return []jsonpatch.Operation{annotate(updated, annotation, person)}
}

// decodedBoth reads an update's two objects. False: the kind's schema refuses them, and says where.
func decodedBoth(request admission.Request, old, updated any) bool {
	return json.Unmarshal(request.OldObject.Raw, old) == nil && json.Unmarshal(request.Object.Raw, updated) == nil
}

func annotate(object metav1.Object, annotation, value string) jsonpatch.Operation {
	annotations := object.GetAnnotations()
	if annotations == nil {
		object.SetAnnotations(map[string]string{annotation: value})
		return jsonpatch.NewOperation("add", "/metadata/annotations", map[string]string{annotation: value})
	}
	annotations[annotation] = value
	return jsonpatch.NewOperation("add", "/metadata/annotations/"+strings.ReplaceAll(annotation, "/", "~1"), value)
}
