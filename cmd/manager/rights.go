package main

import (
	"github.com/taskonce/taskonce/internal/controller"
	"github.com/taskonce/taskonce/internal/setting"
)

// rights are those that the operator needs beyond its work in its namespaces, as the flags have it: those of config/rbac that
// hold for the whole cluster or for its own namespace.
func (o *options) rights() []controller.Right {
	var all []controller.Right
	if o.leaderElect {
		all = append(all,
			controller.Right{Namespace: o.leaderElectionNamespace, Group: "coordination.k8s.io", Resource: "leases", Verbs: "create"},
			controller.Right{Namespace: o.leaderElectionNamespace, Group: "coordination.k8s.io", Resource: "leases", Name: o.leaderElectionName, Verbs: "get update"},
			controller.Right{Namespace: o.leaderElectionNamespace, Resource: "events", Verbs: "create"},
		)
	}
	if o.keepsCertificate() {
		all = append(all,
			controller.Right{Namespace: o.webhookNamespace, Resource: "secrets", Verbs: "create"},
			controller.Right{Namespace: o.webhookNamespace, Resource: "secrets", Name: o.webhookSecret, Verbs: "update"},
			controller.Right{Group: "admissionregistration.k8s.io", Resource: "mutatingwebhookconfigurations", Name: o.webhookConfigurations, Verbs: "get update"},
			controller.Right{Group: "admissionregistration.k8s.io", Resource: "validatingwebhookconfigurations", Name: o.webhookConfigurations, Verbs: "get update"},
		)
	}
	if o.asksWhoReads() {
		all = append(all, controller.Right{Group: "authentication.k8s.io", Resource: "tokenreviews", Verbs: "create"})
	}
	if o.asksWhoReads() || o.webhookAddress != setting.Off { // of those who read metrics, and of a template's author
		all = append(all, controller.Right{Group: "authorization.k8s.io", Resource: "subjectaccessreviews", Verbs: "create"})
	}
	return all
}

// keepsCertificate says whether the replicas make the webhooks' certificate themselves.
func (o *options) keepsCertificate() bool {
	return o.webhookAddress != setting.Off && o.webhookCertDir == ""
}

// asksWhoReads says whether the API server is asked who reads the metrics.
func (o *options) asksWhoReads() bool {
	return o.metricsAddress != setting.Off && o.metricsAuthentication == delegated
}
