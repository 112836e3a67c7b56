package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taskonce/taskonce/test/harness"
)

// faults are the rules that an operator built with the tag "faults" can be told to break.
var faults = []string{"reuse-connections", "ignore-settle", "no-orphan-wait"}

// Options says what is played, and on what.
type Options struct {
	// Fault is one of faults, or empty.
	Fault string
	// Steps holds the names of the steps to play; empty: all.
	Steps []string
	// Keep keeps the folder with the logs, also when all is well.
	Keep bool
	// ControlPlane is one that runs already, with the CRDs; nil: Run starts one and stops it.
	ControlPlane *harness.ControlPlane
}

// selected returns the steps to be played, in the order of the list.
func (o *Options) selected() ([]step, error) {
	if o.Fault != "" && !slices.Contains(faults, o.Fault) {
		return nil, fmt.Errorf("there is no fault %q; there are %s", o.Fault, strings.Join(faults, ", "))
	}
	all := steps()
	if len(o.Steps) == 0 {
		return all, nil
	}
	for _, name := range o.Steps {
		if !slices.ContainsFunc(all, func(s step) bool { return s.name == name }) {
			return nil, fmt.Errorf("there is no step %q; there are %s", name, strings.Join(names(all), ", "))
		}
	}
	return slices.DeleteFunc(all, func(s step) bool { return !slices.Contains(o.Steps, s.name) }), nil
}

func names(steps []step) []string {
	var list []string
	for _, s := range steps {
		list = append(list, s.name)
	}
	return list
}
