package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taskonce/taskonce/test/bench/report"
	"github.com/taskonce/taskonce/test/harness"
)

// unadmitted labels namespaces for which no webhook is called.
const unadmitted = "bench.taskonce.dev/unadmitted"

// webhook compares submissions that the webhooks see with submissions that they do not.
func webhook() section {
	return section{name: report.SectionWebhook, setting: setting{admission: true}, comparisons: func(o Options) []comparison {
		return []comparison{{name: report.Busy, pairs: o.Pairs, sides: []side{
			{report.With, func(ctx context.Context, w *world) (report.Sample, error) {
				return w.through(ctx, load{n: o.Submissions, clients: 32}) // admission reads, so it is no straight path
			}},
			{report.Without, func(ctx context.Context, w *world) (report.Sample, error) {
				return w.straight(ctx, load{n: o.Submissions, clients: 32, labels: map[string]string{unadmitted: "true"}})
			}},
		}}}
	}}
}

// installAdmission installs policies and webhooks, for namespaces that are not labelled otherwise.
func (w *world) installAdmission(ctx context.Context) (err error) {
	if w.webhooks, err = harness.UnusedAddress(); err != nil {
		return err
	}
	if err := w.plane.InstallAdmission(ctx, w.webhooks); err != nil {
		return err
	}
	selector := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: unadmitted, Operator: metav1.LabelSelectorOpDoesNotExist}}}
	registration := w.clients.AdmissionregistrationV1()
	mutating, err := registration.MutatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range mutating.Items {
		for j := range mutating.Items[i].Webhooks {
			mutating.Items[i].Webhooks[j].NamespaceSelector = selector
		}
		if _, err := registration.MutatingWebhookConfigurations().Update(ctx, &mutating.Items[i], metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	validating, err := registration.ValidatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range validating.Items {
		for j := range validating.Items[i].Webhooks {
			validating.Items[i].Webhooks[j].NamespaceSelector = selector
		}
		if _, err := registration.ValidatingWebhookConfigurations().Update(ctx, &validating.Items[i], metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
}
