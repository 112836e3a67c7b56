package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// right is something that a template has the operator do for its author.
type right struct {
	path      *field.Path
	attribute authorizationv1.ResourceAttributes
}

// missingRights returns the fields of a template that use what its author may not: the operator, which may, must not be
// the way around.
func (h *Templates) missingRights(ctx context.Context, author authenticationv1.UserInfo, template *v1alpha1.TaskTemplate) (field.ErrorList, error) {
	var missing field.ErrorList
	rights, err := rightsOf(template)
	if err != nil {
		return nil, err
	}
	for _, r := range rights {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: author.Username, Groups: author.Groups, UID: author.UID, Extra: extra(author), ResourceAttributes: &r.attribute,
		}}
		if err := h.Reviewer.Create(ctx, review); err != nil {
			return nil, fmt.Errorf("the API server cannot be asked for the author's rights: %w", err)
		}
		if !review.Status.Allowed {
			missing = append(missing, field.Forbidden(r.path, fmt.Sprintf("the author of a template must have the rights that it uses, and you may not %s %s in this namespace",
				r.attribute.Verb, strings.TrimSpace(r.attribute.Resource+" "+r.attribute.Name))))
		}
	}
	return missing, nil
}

func extra(author authenticationv1.UserInfo) map[string]authorizationv1.ExtraValue {
	copied := map[string]authorizationv1.ExtraValue{}
	for name, values := range author.Extra {
		copied[name] = authorizationv1.ExtraValue(values)
	}
	return copied
}

// rightsOf finds every right that effect and verification use. It looks for references in their JSON, so that no kind of
// effect can be forgotten.
func rightsOf(template *v1alpha1.TaskTemplate) ([]right, error) {
	raw, err := json.Marshal(map[string]any{"effect": template.Spec.Effect, "verification": template.Spec.Verification})
	if err != nil {
		return nil, err
	}
	var value map[string]any
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil, err
	}
	var found []right
	if effect, ok := value["effect"].(map[string]any); ok && effect["job"] != nil {
		found = append(found, right{field.NewPath("spec", "effect", "job"), authorizationv1.ResourceAttributes{
			Namespace: template.Namespace, Verb: "create", Group: "batch", Resource: "jobs",
		}})
	}
	return secretsIn(found, template.Namespace, field.NewPath("spec"), value), nil
}

// secretReferences are the fields that name a Secret: of ours, and of pods. The values are the fields inside that hold
// the name.
var secretReferences = map[string][]string{
	"secretKeyRef": {"name"}, "secretRef": {"name"}, // ours, env, envFrom, volumes of many kinds
	"secret":           {"secretName", "name"}, // a volume; a source of a projected one
	"imagePullSecrets": {"name"}, "nodePublishSecretRef": {"name"}, "azureFile": {"secretName"},
}

func secretsIn(found []right, namespace string, path *field.Path, value any) []right {
	switch value := value.(type) {
	case []any:
		for i, element := range value {
			found = secretsIn(found, namespace, path.Index(i), element)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if name == "body" {
				continue // what a receiver is told is no reference
			}
			child := path.Child(name)
			if secrets := secretsNamed(name, value[name]); len(secrets) > 0 {
				for _, secret := range secrets {
					found = append(found, right{child, authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "get", Resource: "secrets", Name: secret}})
				}
			} else {
				found = secretsIn(found, namespace, child, value[name])
			}
		}
	}
	return found
}

// secretsNamed returns the Secrets that a reference, or a list of them, names.
func secretsNamed(reference string, value any) (names []string) {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			names = append(names, secretsNamed(reference, element)...)
		}
	case map[string]any:
		for _, inside := range secretReferences[reference] {
			if name, _ := value[inside].(string); name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}
