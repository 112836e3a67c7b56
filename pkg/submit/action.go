package submit

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Action is one business action. The same action, tried again, has the same key, template and parameters.
type Action struct {
	// Namespace of the submission and its template.
	Namespace string
	// Key is the client's name for the action: 1 to 512 bytes. Key(…) makes one from parts.
	Key string
	// Template is the name of the TaskTemplate.
	Template string
	// Parameters is what marshals to a JSON object; nil: an empty one.
	Parameters any
	// NotBefore and NotAfter bound when it may begin; zero: no bound.
	NotBefore, NotAfter time.Time
	// Traceparent is the W3C trace context that is passed on to the receiver. It is no part of the action. Empty: that of
	// the OpenTelemetry span in the context that Submit is called with, where there is one.
	Traceparent string
	// OnBehalfOf names who it is submitted for, where that is not who submits it. Only holders of the verb
	// submit-on-behalf may say so. It is no part of the action.
	OnBehalfOf string
}

// Key joins parts into an idempotency key, so that different parts never make the same key.
func Key(parts ...string) string { return v1alpha1.Key(parts...) }

// Object returns the submission that stands for the action, as it is sent: named after its key, and with parameters as
// the API server will store them. An error says what is wrong with the action; nothing can be sent.
func (a Action) Object() (*v1alpha1.TaskSubmission, error) {
	name, err := v1alpha1.NameForKey(a.Key)
	if err != nil {
		return nil, err
	}
	object := &v1alpha1.TaskSubmission{
		ObjectMeta: metav1.ObjectMeta{Namespace: a.Namespace, Name: name},
		Spec:       v1alpha1.TaskSubmissionSpec{TemplateRef: v1alpha1.TemplateRef{Name: a.Template}, NotBefore: bound(a.NotBefore), NotAfter: bound(a.NotAfter)},
	}
	if name != a.Key {
		object.Spec.IdempotencyKey = a.Key
	}
	for name, value := range map[string]string{v1alpha1.AnnotationTraceparent: a.Traceparent, v1alpha1.AnnotationOnBehalfOf: a.OnBehalfOf} {
		if value != "" {
			metav1.SetMetaDataAnnotation(&object.ObjectMeta, name, value)
		}
	}
	if a.Parameters != nil {
		raw, err := json.Marshal(a.Parameters)
		if err != nil {
			return nil, fmt.Errorf("parameters: %w", err)
		}
		object.Spec.Parameters = apiextensionsv1.JSON{Raw: raw}
	}
	return object, complete(object)
}

func bound(at time.Time) *metav1.Time {
	if at.IsZero() {
		return nil
	}
	return &metav1.Time{Time: at}
}

// anew returns what whoever submits says of a submission: what the API server and the operator wrote into it is left out.
func anew(object *v1alpha1.TaskSubmission) *v1alpha1.TaskSubmission {
	object = object.DeepCopy()
	object.UID, object.ResourceVersion, object.Generation, object.ManagedFields = "", "", 0, nil
	object.CreationTimestamp, object.DeletionTimestamp, object.DeletionGracePeriodSeconds = metav1.Time{}, nil, nil
	object.Status = v1alpha1.TaskSubmissionStatus{}
	return object
}

// complete checks an object, names it after its key where it has no name yet, and writes its parameters as the API
// server will store them.
func complete(object *v1alpha1.TaskSubmission) error {
	if object.GenerateName != "" {
		return errors.New("generateName would give the same action a new name each time: leave it out")
	}
	if object.Namespace != "" {
		if err := namable("namespace", object.Namespace); err != nil {
			return err
		}
	}
	if object.Spec.TemplateRef.Name == "" {
		return errors.New("the name of the template is missing")
	}
	if err := namable("template", object.Spec.TemplateRef.Name); err != nil {
		return err
	}
	name, err := v1alpha1.NameForKey(object.Key())
	switch {
	case err != nil:
		return err
	case object.Name == "":
		object.Name = name
	case object.Name != name && object.Spec.IdempotencyKey == "":
		return fmt.Errorf("the name %q cannot be its own key: set the key to it, and the name to %q", object.Name, name)
	case object.Name != name:
		return fmt.Errorf("the name %q is not that of the key: it is %q; leave the name out", object.Name, name)
	}
	if len(object.Spec.Parameters.Raw) == 0 {
		return nil
	}
	stored, err := asStored(object.Spec.Parameters.Raw)
	if err != nil {
		return fmt.Errorf("parameters: %w", err)
	}
	object.Spec.Parameters.Raw = stored
	return nil
}

// namable says why something of a kind cannot have a name.
func namable(kind, name string) error {
	if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
		return fmt.Errorf("no %s has the name %q: %s", kind, name, strings.Join(wrong, "; "))
	}
	return nil
}

// sign writes a random token into the object, by which its creator knows it again.
func sign(object *v1alpha1.TaskSubmission) (token string) {
	token = string(uuid.NewUUID())
	metav1.SetMetaDataAnnotation(&object.ObjectMeta, v1alpha1.AnnotationClientToken, token)
	return token
}
