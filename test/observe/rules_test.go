package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/taskonce/taskonce/test/harness"
)

// alert is one rule of config/prometheus/rules.yaml.
type alert struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	Annotations map[string]string `json:"annotations"`
}

func repository(t *testing.T, path string) string {
	t.Helper()
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, path)
}

// unmarshal reads a file of this repository.
func unmarshal(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(repository(t, path))
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func alerts(t *testing.T) (all []alert) {
	t.Helper()
	var rules struct {
		Groups []struct {
			Rules []alert `json:"rules"`
		} `json:"groups"`
	}
	unmarshal(t, "config/prometheus/rules.yaml", &rules)
	for _, group := range rules.Groups {
		all = append(all, group.Rules...)
	}
	if len(all) == 0 {
		t.Fatal("there are no alerts")
	}
	return all
}

// TestAlertsFireWhenTheyShould runs the tests of the rules, and requires that each alert has one in which it fires.
func TestAlertsFireWhenTheyShould(t *testing.T) {
	var tests struct {
		Tests []struct {
			Rules []struct {
				Alert    string `json:"alertname"`
				Expected []any  `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		} `json:"tests"`
	}
	unmarshal(t, "config/prometheus/rules_test.yaml", &tests)
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, test := range tests.Tests {
		for _, rule := range test.Rules {
			fires[rule.Alert] = fires[rule.Alert] || len(rule.Expected) > 0
			silent[rule.Alert] = silent[rule.Alert] || len(rule.Expected) == 0
		}
	}
	for _, alert := range alerts(t) {
		if !fires[alert.Alert] || !silent[alert.Alert] {
			t.Errorf("no test shows when %s fires and when it does not", alert.Alert)
		}
	}
	command := exec.CommandContext(t.Context(), "promtool", "test", "rules", repository(t, "config/prometheus/rules_test.yaml"))
	if said, err := command.CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, said)
	}
}

// TestEveryAlertSaysWhatToDo: each has a section of its name, to which it leads.
func TestEveryAlertSaysWhatToDo(t *testing.T) {
	const page = "https://github.com/taskonce/taskonce/blob/main/docs/operations.md#"
	text, err := os.ReadFile(repository(t, "docs/operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	headings := strings.Split(string(text), "\n")
	for _, alert := range alerts(t) {
		if !slices.Contains(headings, "### "+alert.Alert) {
			t.Errorf("docs/operations.md has no section of %s", alert.Alert)
		}
		if got, want := alert.Annotations["runbook_url"], page+strings.ToLower(alert.Alert); got != want {
			t.Errorf("%s leads to %q, not to %q", alert.Alert, got, want)
		}
		if alert.Annotations["summary"] == "" || alert.Annotations["description"] == "" {
			t.Errorf("%s says nothing", alert.Alert)
		}
	}
}
