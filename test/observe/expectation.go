package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// expectation is a number for each set of labels, as "name=value,name=value" in the order of the names.
type expectation map[string]float64

// add adds a number to what is expected with some labels: names and values in turns.
func (e expectation) add(number float64, labels ...string) {
	set := map[string]string{}
	for i := 0; i < len(labels); i += 2 {
		set[labels[i]] = labels[i+1]
	}
	e[identity(set)] += number
}

// by adds up over all labels but some, and leaves out what is zero.
func (e expectation) by(names ...string) expectation {
	sums := expectation{}
	for id, number := range e {
		kept := map[string]string{}
		for name, value := range labelsOf(id) {
			if slices.Contains(names, name) {
				kept[name] = value
			}
		}
		if number != 0 {
			sums[identity(kept)] += number
		}
	}
	return sums
}

// sum adds two up.
func sum(a, b expectation) expectation {
	both := maps.Clone(a)
	for id, number := range b {
		both[id] += number
	}
	return both
}

// differences says where measured numbers are not those that are expected. What is not there is zero.
func (e expectation) differences(what string, measured expectation) (faults []string) {
	ids := maps.Clone(e)
	maps.Copy(ids, measured)
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		if e[id] != measured[id] {
			faults = append(faults, fmt.Sprintf("%s {%s} is %v, and should be %v", what, id, measured[id], e[id]))
		}
	}
	return faults
}

func identity(labels map[string]string) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, name+"="+labels[name])
	}
	return strings.Join(pairs, ",")
}

func labelsOf(id string) map[string]string {
	labels := map[string]string{}
	for pair := range strings.SplitSeq(id, ",") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			labels[name] = value
		}
	}
	return labels
}
