package controller

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Right is something that the operator must be allowed to do.
type Right struct {
	// Namespace is where; empty: everywhere.
	Namespace                    string
	Group, Resource, Subresource string
	// Name is the one object that it is about; empty: any.
	Name string
	// Verbs have blanks between them.
	Verbs string
}

// work are the rights of config/rbac/role.yaml that the operator needs in every namespace that it works in.
var work = []Right{
	{Group: v1alpha1.GroupVersion.Group, Resource: "tasksubmissions", Verbs: "get list watch patch delete"},
	{Group: v1alpha1.GroupVersion.Group, Resource: "tasksubmissions", Subresource: "status", Verbs: "update"},
	{Group: v1alpha1.GroupVersion.Group, Resource: "tasktemplates", Verbs: "get list watch"},
	{Group: v1alpha1.GroupVersion.Group, Resource: "tasktemplates", Subresource: "status", Verbs: "update"},
	{Group: v1alpha1.GroupVersion.Group, Resource: "taskrecords", Verbs: "get list create update delete"},
	{Group: v1alpha1.GroupVersion.Group, Resource: "taskdecisions", Verbs: "list watch patch delete"},
	{Group: v1alpha1.GroupVersion.Group, Resource: "taskdecisions", Subresource: "status", Verbs: "update"},
	{Resource: "secrets", Verbs: "get"},
	{Group: "batch", Resource: "jobs", Verbs: "get list watch create patch delete"},
	{Resource: "pods", Verbs: "list"},
	{Group: "events.k8s.io", Resource: "events", Verbs: "create patch"},
}

// Rights are those that an operator needs for its work in these namespaces, where there are none in all of them, and those
// that it needs beyond it.
func Rights(namespaces []string, beyond ...Right) []Right {
	var all []Right
	for _, namespace := range orAll(namespaces) {
		for _, right := range work {
			right.Namespace = namespace
			all = append(all, right)
		}
	}
	return append(all, beyond...)
}

// CheckInstallation returns nil where the kinds are installed and the rights are granted, for work in these namespaces and
// beyond it, and otherwise one error that says what is missing and how to mend it. An operator that starts without them would
// only fail later, and less clearly.
func CheckInstallation(ctx context.Context, config *rest.Config, scheme *runtime.Scheme, namespaces []string, beyond ...Right) error {
	reader, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("the API server cannot be reached: %w", err)
	}
	for _, kind := range []string{"TaskSubmission", "TaskTemplate", "TaskRecord", "TaskDecision"} {
		_, err := reader.RESTMapper().RESTMapping(v1alpha1.GroupVersion.WithKind(kind).GroupKind(), v1alpha1.GroupVersion.Version)
		if meta.IsNoMatchError(err) {
			return fmt.Errorf("the kind %s of %s is not installed: apply config/crd first", kind, v1alpha1.GroupVersion)
		}
		if err != nil {
			return fmt.Errorf("the API server cannot be asked for its kinds: %w", err)
		}
	}
	if err := checkRights(ctx, reader, Rights(namespaces, beyond...)); err != nil {
		return err
	}
	return checkSelection(ctx, config, reader, namespaces)
}

func checkRights(ctx context.Context, c client.Client, rights []Right) error {
	var missing []string
	for _, right := range rights {
		lacks, err := lacks(ctx, c, right)
		if err != nil {
			return err
		}
		missing = append(missing, lacks...)
	}
	if len(missing) > 0 {
		return fmt.Errorf("this account lacks rights (%s): apply config/rbac, and run as its service account", strings.Join(missing, ", "))
	}
	return nil
}

// orAll is the namespaces to ask for: those that are named, else all of them at once, which is what "" means.
func orAll(namespaces []string) []string {
	if len(namespaces) == 0 {
		return []string{""}
	}
	return namespaces
}

// lacks returns which verbs of a right this account lacks, each in words.
func lacks(ctx context.Context, c client.Client, r Right) ([]string, error) {
	var missing []string
	for verb := range strings.FieldsSeq(r.Verbs) {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: r.Namespace, Group: r.Group, Resource: r.Resource, Subresource: r.Subresource, Name: r.Name, Verb: verb},
		}}
		if err := c.Create(ctx, review); err != nil {
			return nil, fmt.Errorf("the API server cannot be asked for this account's rights: %w", err)
		}
		if !review.Status.Allowed {
			missing = append(missing, r.words(verb))
		}
	}
	return missing, nil
}

func (r Right) words(verb string) string {
	words := verb + " " + strings.Trim(r.Resource+"/"+r.Subresource, "/")
	if r.Name != "" {
		words += " " + r.Name
	}
	if r.Namespace != "" {
		words += " in " + r.Namespace
	}
	return words
}
