package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

// Report is what was seen.
type Report struct {
	// Length is from the first scrape to the last.
	Length time.Duration
	Panels []Shown
	// Alerts are those that have something to say, with their templates.
	Alerts []string
	// Compared is how many counters, gauges and panels were compared; Faults are sentences, one for each that is not what it should be.
	Compared int
	Faults   []string
}

// Shown is a panel with its answers.
type Shown struct {
	Panel
	Answers []Answer
}

// Answer is one line of a panel: over the whole run, and its course.
type Answer struct {
	Legend string
	Labels map[string]string
	Value  float64
	Course []model.SamplePair
}

// Print draws the panels as text.
func (r *Report) Print(w io.Writer) {
	for _, panel := range r.Panels {
		if panel.Type == "row" {
			fmt.Fprintf(w, "\n%s\n%s\n", panel.Title, strings.Repeat("=", len(panel.Title)))
			continue
		}
		fmt.Fprintf(w, "\n  %s\n", panel.Title)
		for _, answer := range panel.Answers {
			if answer.Value != 0 && !math.IsNaN(answer.Value) {
				fmt.Fprintf(w, "    %-28s %s\n", answer.Legend, panel.number(answer.Value))
			}
		}
	}
	fmt.Fprintf(w, "\nAlerts that are about to fire: %s\n", strings.Join(r.Alerts, ", "))
	fmt.Fprintf(w, "\n%d counters, gauges and panels over %s were compared with the receiver's log, the clients' history and the API server's account: ",
		r.Compared, r.Length.Round(time.Second))
	if len(r.Faults) == 0 {
		fmt.Fprintln(w, "all are exactly what happened.")
		return
	}
	fmt.Fprintf(w, "%d are not what happened.\n", len(r.Faults))
	for _, fault := range r.Faults {
		fmt.Fprintln(w, "  "+fault)
	}
}

// number writes a value in the panel's unit.
func (p *Panel) number(value float64) string {
	if p.FieldConfig.Defaults.Unit != "s" {
		return strconv.FormatFloat(value, 'g', 4, 64)
	}
	took := time.Duration(value * float64(time.Second))
	switch {
	case took > 48*time.Hour:
		return fmt.Sprintf("%.1f days", took.Hours()/24)
	case took > time.Minute:
		return took.Round(time.Second).String()
	case took > time.Second:
		return took.Round(10 * time.Millisecond).String()
	default:
		return took.Round(time.Millisecond).String()
	}
}

// save draws the picture, where one is wanted.
func (r *Report) save(path string) error {
	if path == "" {
		return nil
	}
	return os.WriteFile(path, []byte(r.picture()), 0o644) //nolint:gosec // it is published
}
