package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/taskonce/taskonce/internal/lifecycle"
)

// operatorWrites is how many writes of the operator a submission takes: the record created, the record concluded, the
// status. bareWrites has the client's own create in addition.
const (
	operatorWrites = 3
	bareWrites     = operatorWrites + 1
)

// operatorFaults says what is wrong with the requests that a phase took. Times are not, but a machine that is slow, or
// busy with something else, makes an effect long, and a long effect is shown as Processing: one write more, and
// perhaps conflicts between that status and the next, which is written again then from what is read. So these are
// allowed for where a watch saw such statuses; and no submission that was quick may have had one.
func operatorFaults(phase *Phase) (faults []string) {
	fault := func(format string, arguments ...any) { faults = append(faults, fmt.Sprintf(format, arguments...)) }
	n, made, between := phase.Submissions, phase.requests, 0
	for _, count := range phase.Between {
		between += count
	}
	if creates := made.sum(isClientCreate); creates != n {
		fault("%d submissions were created with %d requests", n, creates)
	}
	if phase.Hasty > 0 {
		fault("%d statuses were shown of submissions on the way that ended within %s: %v", phase.Hasty, lifecycle.QuietFor, phase.Between)
	}
	conflicts := made.sum(func(r Request) bool { return isOperatorWrite(r) && r.Conflict })
	if writes := made.sum(isOperatorWrite) - conflicts; writes != operatorWrites*n+between {
		fault("the operator made %d writes for %d submissions and %d statuses on the way, instead of %d for each and 1 for a status", writes, n, between, operatorWrites)
	}
	if said := made.sum(isTemplateStatus); said > 1 {
		fault("the template's status was written %d times; its receiver's first answer is worth one write", said)
	}
	if conflicts > 0 && between == 0 {
		fault("the operator met %d conflicts, and there was nobody but itself to be first", conflicts)
	}
	if gets := made.sum(isOperatorGet); gets > conflicts {
		fault("the operator made %d GETs for %d submissions after %d conflicts", gets, n, conflicts)
	}
	// What is due is looked for by time, however much there is to do: records, and submissions without one.
	if lists, sweeps := made.sum(isOperatorList), 2+int(phase.Took/sweepInterval); lists > 2*sweeps {
		fault("the operator made %d LISTs where it may have swept %d times", lists, sweeps)
	}
	return faults
}

// bareFaults says whether the bare client did what it is compared for.
func bareFaults(phase *Phase) (faults []string) {
	n, made := phase.Submissions, phase.requests
	if writes := made.sum(func(r Request) bool { return isBare(r) && isWrite(r) && !r.Conflict }); writes != bareWrites*n {
		faults = append(faults, fmt.Sprintf("the bare client made %d writes for %d submissions instead of %d for each", writes, n, bareWrites))
	}
	if idle := made.sum(isOperatorWrite); idle != 0 {
		faults = append(faults, fmt.Sprintf("the operator made %d writes while it had nothing to do", idle))
	}
	return faults
}

// conclude adds up what was measured and judges it.
func (r *Report) conclude(effectFaults []string) {
	var ratios []float64
	total, submissions := requests{}, 0
	for i := range r.Pairs {
		pair := &r.Pairs[i]
		ratios = append(ratios, pair.Ratio)
		submissions += pair.Operator.Submissions
		for request, count := range pair.Operator.requests {
			total[request] += count
		}
		r.blame(fmt.Sprintf("pair %d", i+1), append(operatorFaults(&pair.Operator), bareFaults(&pair.Bare)...))
	}
	r.blame("one at a time", operatorFaults(r.Alone))
	if r.Gentle != nil {
		r.blame("at a gentle rate", operatorFaults(r.Gentle))
	}
	r.blame("effects", effectFaults)
	r.MedianRatio = median(ratios)
	for _, request := range total.sorted() {
		count := Count{Request: request, By: "operator", Number: total[request], PerSubmission: float64(total[request]) / float64(submissions)}
		if isClientCreate(request) {
			count.By = "client"
		}
		r.Requests = append(r.Requests, count)
	}
}

func (r *Report) blame(where string, faults []string) {
	for _, fault := range faults {
		r.Faults = append(r.Faults, where+": "+fault)
	}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if n := len(sorted); n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[len(sorted)/2]
}

func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }
