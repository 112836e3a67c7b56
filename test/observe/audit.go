package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"github.com/taskonce/taskonce/test/harness"
)

// auditPolicy has the API server keep account of the operator's writes, and of whoever creates submissions.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: ["system:serviceaccount:` + harness.ManagerNamespace + `:taskonce-controller-manager"]
  verbs: [create, update, patch, delete, deletecollection]
- level: None
`

// auditFlags has the account kept in a file.
func (w *world) auditFlags() (map[string]string, error) {
	policy := w.path("audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return nil, err
	}
	return map[string]string{"audit-policy-file": policy, "audit-log-path": w.path("audit.jsonl")}, nil
}

// writes returns how many writes of the operator the API server has answered, by method and code.
func (w *world) writes() (expectation, error) {
	text, err := os.ReadFile(w.path("audit.jsonl"))
	if err != nil {
		return nil, err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1] // the last line may still be being written
	methods := map[string]string{"create": "POST", "update": "PUT", "patch": "PATCH", "delete": "DELETE", "deletecollection": "DELETE"}
	counts := expectation{}
	for line := range bytes.Lines(whole) {
		var event struct {
			Verb           string
			ResponseStatus struct{ Code int }
		}
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("the API server's audit log: %w", err)
		}
		counts.add(1, "method", methods[event.Verb], "code", fmt.Sprint(event.ResponseStatus.Code))
	}
	return counts, nil
}
