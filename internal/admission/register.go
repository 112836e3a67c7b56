package admission

import (
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// The paths that config/webhook names.
const (
	PathSubmissions = "/mutate-taskonce-dev-v1alpha1-tasksubmission"
	PathDecisions   = "/mutate-taskonce-dev-v1alpha1-taskdecision"
	PathTemplates   = "/validate-taskonce-dev-v1alpha1-tasktemplate"
)

// Register has a server answer for all three kinds.
func Register(server webhook.Server, submissions *Submissions, decisions *Decisions, templates *Templates) {
	server.Register(PathSubmissions, &admission.Webhook{Handler: submissions})
	server.Register(PathDecisions, &admission.Webhook{Handler: decisions})
	server.Register(PathTemplates, &admission.Webhook{Handler: templates})
}
