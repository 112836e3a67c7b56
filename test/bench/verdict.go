package main

import (
	"fmt"

	"github.com/taskonce/taskonce/internal/lifecycle"
	"github.com/taskonce/taskonce/test/bench/report"
)

// operatorWrites is how many writes of the operator a submission takes: the record created, the record concluded, the
// status. bareWrites has the client's own create in addition.
const (
	operatorWrites = 3
	bareWrites     = operatorWrites + 1
)

// listsOfASweep is one for records, and two each for submissions without one and for decisions: those that are due, and
// those that do not say when they are.
const listsOfASweep = 5

// straightFaults says what is wrong with the requests that straight paths took. Times are not, but a machine that is
// slow, or busy with something else, makes an effect long, and a long effect is shown as Processing: one write more, and
// perhaps conflicts between that status and the next, which is written again then from what is read. So these are
// allowed for where a watch saw such statuses.
func straightFaults(sample *report.Sample) (faults []string) {
	fault := func(format string, arguments ...any) { faults = append(faults, fmt.Sprintf(format, arguments...)) }
	n, between := sample.Submissions, 0
	for _, count := range sample.Between {
		between += count
	}
	sum := func(which func(report.Count) bool) int { return int(sample.Requested(which)) }
	byOperator := func(c report.Count) bool { return c.By == report.Operator }
	if creates := sum(isClientCreate); creates != n {
		fault("%d submissions were created with %d requests", n, creates)
	}
	if sample.Hasty > 0 {
		fault("%d statuses were shown of submissions on the way that ended within %s: %v", sample.Hasty, lifecycle.QuietFor, sample.Between)
	}
	conflicts := sum(func(c report.Count) bool { return byOperator(c) && c.Conflict })
	if writes := sum(func(c report.Count) bool { return byOperator(c) && c.Write() }) - conflicts; writes != operatorWrites*n+between {
		fault("the operator made %d writes for %d submissions and %d statuses on the way, instead of %d for each and 1 for a status", writes, n, between, operatorWrites)
	}
	if said := sum(isTemplateStatus); said > 1 {
		fault("the template's status was written %d times; its receiver's first answer is worth one write", said)
	}
	if conflicts > 0 && between == 0 {
		fault("the operator met %d conflicts, and there was nobody but itself to be first", conflicts)
	}
	// Whoever keeps the webhooks' certificate looks at its Secret now and then.
	looks := min(1, sum(func(c report.Count) bool { return byOperator(c) && c.Verb == "GET" && c.Resource == "secrets" }))
	if gets := sum(func(c report.Count) bool { return byOperator(c) && c.Verb == "GET" }) - looks; gets > conflicts {
		fault("the operator made %d GETs for %d submissions after %d conflicts", gets, n, conflicts)
	}
	// What is due is looked for by time, however much there is to do.
	lists := sum(func(c report.Count) bool { return byOperator(c) && c.Verb == "LIST" })
	if sweeps := 2 + int(sample.Seconds/sweepInterval.Seconds()); lists > listsOfASweep*sweeps {
		fault("the operator made %d LISTs where it may have swept %d times", lists, sweeps)
	}
	return faults
}

// bareFaults says whether the bare client did what it is compared for.
func bareFaults(sample *report.Sample) (faults []string) {
	n := sample.Submissions
	writes := sample.Requested(func(c report.Count) bool { return c.By == report.Bare && c.Write() && !c.Conflict })
	if int(writes) != bareWrites*n {
		faults = append(faults, fmt.Sprintf("the bare client made %.0f writes for %d submissions instead of %d for each", writes, n, bareWrites))
	}
	if idle := sample.Requested(func(c report.Count) bool { return c.By == report.Operator && c.Write() }); idle != 0 {
		faults = append(faults, fmt.Sprintf("the operator made %.0f writes while it had nothing to do", idle))
	}
	return faults
}
