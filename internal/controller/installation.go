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

// right is what the operator must be allowed to do, in every namespace that it works in.
type right struct{ group, resource, subresource, verbs string }

// rights are those of config/rbac/role.yaml without which nothing works.
var rights = []right{
	{"taskonce.dev", "tasksubmissions", "", "get list watch patch delete"},
	{"taskonce.dev", "tasksubmissions", "status", "update"},
	{"taskonce.dev", "tasktemplates", "", "get list watch"},
	{"taskonce.dev", "tasktemplates", "status", "update"},
	{"taskonce.dev", "taskrecords", "", "get list create update delete"},
	{"taskonce.dev", "taskdecisions", "", "list watch patch delete"},
	{"taskonce.dev", "taskdecisions", "status", "update"},
	{"", "secrets", "", "get"},
	{"batch", "jobs", "", "get list watch create patch delete"},
	{"", "pods", "", "list"},
}

// reviews is the right to look others' rights up. It is one on the whole cluster.
var reviews = right{"authorization.k8s.io", "subjectaccessreviews", "", "create"}

// Needs is what an operator needs, as its flags have it.
type Needs struct {
	// Namespaces are those that it works in; none: all.
	Namespaces []string
	// Reviews says that it looks others' rights up: for its webhooks, or for its metrics.
	Reviews bool
}

// CheckInstallation returns nil where the kinds are installed and the rights are granted, and otherwise one error that
// says what is missing and how to mend it. An operator that starts without them would only fail later, and less clearly.
func CheckInstallation(ctx context.Context, config *rest.Config, scheme *runtime.Scheme, needs Needs) error {
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
	if err := checkRights(ctx, reader, needs); err != nil {
		return err
	}
	return checkSelection(ctx, config, reader, needs.Namespaces)
}

func checkRights(ctx context.Context, c client.Client, needs Needs) error {
	var missing []string
	lack := func(r right, namespace string) error {
		lacks, err := lacks(ctx, c, r, namespace)
		missing = append(missing, lacks...)
		return err
	}
	for _, namespace := range orAll(needs.Namespaces) {
		for _, r := range rights {
			if err := lack(r, namespace); err != nil {
				return err
			}
		}
	}
	if needs.Reviews {
		if err := lack(reviews, ""); err != nil {
			return err
		}
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

// lacks returns which verbs of a right this account lacks in a namespace, each in words.
func lacks(ctx context.Context, c client.Client, r right, namespace string) ([]string, error) {
	var missing []string
	for verb := range strings.FieldsSeq(r.verbs) {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Group: r.group, Resource: r.resource, Subresource: r.subresource, Verb: verb},
		}}
		if err := c.Create(ctx, review); err != nil {
			return nil, fmt.Errorf("the API server cannot be asked for this account's rights: %w", err)
		}
		if !review.Status.Allowed {
			words := verb + " " + strings.Trim(r.resource+"/"+r.subresource, "/")
			if namespace != "" {
				words += " in " + namespace
			}
			missing = append(missing, words)
		}
	}
	return missing, nil
}
