package main

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/harness"
	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// facts are what is known of the run without asking the operator for its metrics: the receiver's log, what the clients did
// and saw, what the API server holds.
type facts struct {
	*history
	entries     []ledger.Entry
	submissions []v1alpha1.TaskSubmission
	templates   []v1alpha1.TaskTemplate
	certificate *x509.Certificate
	namespace   string
}

func (w *world) facts(ctx context.Context) (f *facts, err error) {
	f = &facts{history: w.history, namespace: w.namespace}
	if f.entries, err = w.ledger(); err != nil {
		return nil, err
	}
	if f.submissions, err = w.submissions(ctx); err != nil {
		return nil, err
	}
	list := &v1alpha1.TaskTemplateList{}
	if err := w.api.List(ctx, list, client.InNamespace(w.namespace)); err != nil {
		return nil, err
	}
	f.templates = list.Items
	secret := &corev1.Secret{}
	if err := w.api.Get(ctx, client.ObjectKey{Namespace: harness.ManagerNamespace, Name: "taskonce-webhook-cert"}, secret); err != nil {
		return nil, err
	}
	block, _ := pem.Decode(secret.Data[corev1.TLSCertKey])
	if block == nil {
		return nil, errors.New("the webhooks' Secret holds no certificate")
	}
	f.certificate, err = x509.ParseCertificate(block.Bytes)
	return f, err
}

// of returns what the receiver's log says of a submission.
func (f *facts) of(kind ledger.Kind, name string) []ledger.Entry {
	return ledger.Select(f.entries, kind, f.namespace+"/"+name)
}

// outcomes is what the calls of a submission came to, by how the receiver behaves. What it holds has not come to any.
func (f *facts) outcomes(name string) (all []v1alpha1.Outcome) {
	for i, call := range f.of(ledger.Call, name) {
		behaviour := strings.Split(call.Path, "/")[1]
		switch {
		case behaviour == "hold":
		case behaviour == "drop", behaviour == "idempotent" && i == 0:
			all = append(all, v1alpha1.OutcomeUnknown)
		case behaviour == "refuse", behaviour == "busy" && i == 0, behaviour == "idempotent" && i == 1:
			all = append(all, v1alpha1.OutcomeNotApplied)
		default:
			all = append(all, v1alpha1.OutcomeApplied)
		}
	}
	return all
}

// took bounds how long something took, by other clocks than the operator's.
type took struct{ atLeast, atMost time.Duration }

// lasted bounds how long it took from a submission's creation to its end: no less than the receiver was busy with it, and no
// more than its client saw.
func (f *facts) lasted(name string) took {
	f.mu.Lock()
	defer f.mu.Unlock()
	var begun time.Time
	for _, s := range f.sent {
		if s.key == name && (begun.IsZero() || s.at.Before(begun)) {
			begun = s.at
		}
	}
	return took{f.busy(name), f.finished[name].Sub(begun)}
}

// busy is how long it was from the first thing that the receiver heard of a submission to the last effect.
func (f *facts) busy(name string) time.Duration {
	calls, effects := f.of(ledger.Call, name), f.of(ledger.Effect, name)
	if len(calls) == 0 || len(effects) == 0 {
		return 0
	}
	return effects[len(effects)-1].Time.Sub(calls[0].Time)
}
