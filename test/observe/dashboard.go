package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/taskonce/taskonce/test/harness"
)

// Panel is one question of the dashboard, with the queries that answer it.
type Panel struct {
	ID          int      `json:"id"`
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Targets     []Target `json:"targets"`
	GridPos     struct{ X, Y, W, H int }
	FieldConfig struct {
		Defaults struct {
			Unit   string
			Custom struct{ DrawStyle string }
		}
	}
}

// bars says that the panel counts what happened in each interval.
func (p *Panel) bars() bool { return p.FieldConfig.Defaults.Custom.DrawStyle == "bars" }

// Target is a query, and what its answers are called.
type Target struct {
	Expr         string `json:"expr"`
	LegendFormat string `json:"legendFormat"`
}

// readDashboard returns the panels of config/prometheus/dashboard.json, rows included.
func readDashboard() ([]Panel, error) {
	root, err := harness.Root()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, "config", "prometheus", "dashboard.json"))
	if err != nil {
		return nil, err
	}
	var dashboard struct{ Panels []Panel }
	if err := json.Unmarshal(text, &dashboard); err != nil {
		return nil, fmt.Errorf("dashboard.json: %w", err)
	}
	return dashboard.Panels, nil
}

// query fills in what Grafana fills in, for all templates and one interval.
func (t Target) query(interval time.Duration) string {
	in := fmt.Sprintf("%dms", interval.Milliseconds())
	return strings.NewReplacer("$__interval", in, "$__rate_interval", in, "$template", ".*").Replace(t.Expr)
}

// legend is what Grafana calls one answer of a query.
func (t Target) legend(labels map[string]string) string {
	text := t.LegendFormat
	for name, value := range labels {
		text = strings.ReplaceAll(text, "{{"+name+"}}", value)
	}
	return text
}
