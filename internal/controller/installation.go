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

// right is what the operator must be allowed to do, in every namespace.
type right struct{ group, resource, subresource, verbs string }

// rights are those of config/rbac/role.yaml without which nothing works.
var rights = []right{
	{"taskonce.dev", "tasksubmissions", "", "get list watch delete"},
	{"taskonce.dev", "tasksubmissions", "status", "update"},
	{"taskonce.dev", "tasktemplates", "", "get list watch"},
	{"taskonce.dev", "tasktemplates", "status", "update"},
	{"taskonce.dev", "taskrecords", "", "get list create update delete"},
	{"taskonce.dev", "taskdecisions", "", "get list watch"},
	{"taskonce.dev", "taskdecisions", "status", "update"},
	{"", "secrets", "", "get"},
	{"authorization.k8s.io", "subjectaccessreviews", "", "create"},
	{"batch", "jobs", "", "get list watch create patch delete"},
	{"", "pods", "", "list"},
}

// CheckInstallation returns nil where the kinds are installed and the rights are granted, and otherwise one error that
// says what is missing and how to mend it. An operator that starts without them would only fail later, and less clearly.
func CheckInstallation(ctx context.Context, config *rest.Config, scheme *runtime.Scheme) error {
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
	return checkRights(ctx, reader)
}

func checkRights(ctx context.Context, c client.Client) error {
	var missing []string
	for _, r := range rights {
		for verb := range strings.FieldsSeq(r.verbs) {
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{Group: r.group, Resource: r.resource, Subresource: r.subresource, Verb: verb},
			}}
			if err := c.Create(ctx, review); err != nil {
				return fmt.Errorf("the API server cannot be asked for this account's rights: %w", err)
			}
			if !review.Status.Allowed {
				missing = append(missing, verb+" "+strings.Trim(r.resource+"/"+r.subresource, "/"))
			}
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("this account lacks rights (%s): apply config/rbac, and run as its service account", strings.Join(missing, ", "))
	}
	return nil
}
