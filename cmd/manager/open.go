package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/taskonce/taskonce/internal/setting"
	"github.com/taskonce/taskonce/internal/telemetry"
)

// Open looks at what the flags leave to this machine or name on it, so that what is wrong is said before the cluster is asked.
func (o *options) Open() (err error) {
	if o.leaderElect && o.leaderElectionNamespace == "" {
		if o.leaderElectionNamespace, err = podNamespace(); err != nil {
			return fmt.Errorf("outside a cluster set --leader-election-namespace, or leave out --leader-elect: %w", err)
		}
	}
	if o.keepsCertificate() && o.webhookNamespace == "" {
		if o.webhookNamespace, err = podNamespace(); err != nil {
			return fmt.Errorf("outside a cluster set --webhook-service-namespace, or turn the webhooks off with --webhook-bind-address=0: %w", err)
		}
	}
	if o.checkOnly { // it serves nothing and writes nothing
		return nil
	}
	return o.openFiles()
}

func (o *options) openFiles() (err error) {
	if o.webhookAddress != setting.Off {
		if err := setting.CheckCertificate("webhook-cert-dir", o.webhookCertDir); err != nil {
			return err
		}
	}
	if o.auditLog == "" {
		return nil
	}
	if o.audit, err = telemetry.OpenAudit(o.auditLog); err != nil {
		return fmt.Errorf("--audit-log must name a file that can be written to, or be -: %w", err)
	}
	return nil
}

// namespaceFile tells a pod its own namespace.
var namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

func podNamespace() (string, error) {
	text, err := os.ReadFile(namespaceFile)
	return strings.TrimSpace(string(text)), err
}
