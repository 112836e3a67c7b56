package report

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// Sample is one side, measured once.
type Sample struct {
	Submissions int     `json:"submissions,omitempty"`
	Seconds     float64 `json:"seconds,omitempty"`
	// CPU is the processor time in seconds by program; Others is what everything else on the machine used meanwhile.
	CPU map[string]float64 `json:"cpuSeconds,omitempty"`
	// P50, P95 and P99 are milliseconds from before a create to the end that a watch shows or, where nobody waits, to the
	// last write.
	P50 float64 `json:"p50Ms,omitempty"`
	P95 float64 `json:"p95Ms,omitempty"`
	P99 float64 `json:"p99Ms,omitempty"`
	// Requests are those that the API server counted, without watches.
	Requests []Count `json:"requests,omitempty"`
	// EtcdBytes is what etcd wrote to its log.
	EtcdBytes float64 `json:"etcdBytes,omitempty"`
	// EtcdStored is by how much what etcd's database has in use grew: all revisions, unless it was compacted meanwhile.
	EtcdStored float64 `json:"etcdStored,omitempty"`
	// Between counts statuses that were shown before the end, by phase and reason.
	Between map[string]int `json:"between,omitempty"`
	// Hasty is how many of them belong to submissions that took too little time to need one.
	Hasty int `json:"hasty,omitempty"`
	// Figures are those that only some sections have.
	Figures map[string]float64 `json:"figures,omitempty"`
	// Faults are sentences about what should not be.
	Faults []string `json:"faults,omitempty"`
}

// Programs whose processor time and memory is measured.
const (
	Manager    = "manager"
	APIServer  = "kube-apiserver"
	Etcd       = "etcd"
	Controller = "kube-controller-manager"
	FrontDoor  = "gateway"
	Clients    = "clients and receiver"
	Others     = "others"
)

// Figures of some samples.
const (
	SubmissionBytes = "submissionBytes"       // stored, as JSON
	RecordBytes     = "recordBytes"           // stored, as JSON
	MemoryMiB       = "memoryMiB"             // resident, of the operator
	LiveMiB         = "liveMiB"               // what the operator's heap holds
	IdleMiB         = "idleMemoryMiB"         // resident, of the same operator before its work
	IdleLiveMiB     = "idleLiveMiB"           // what its heap held then
	ServerMiB       = "apiServerMiB"          // resident, of the API server
	StoredBytes     = "etcdStoredBytes"       // what etcd has in use
	SeededBytes     = "seededBytes"           // the JSON of the history
	Objects         = "objects"               // how many submissions there are
	ReadySeconds    = "readySeconds"          // from the process's start
	FirstSeconds    = "firstSeconds"          // from the process's start to the first submission's Success
	SweepSeconds    = "sweepSeconds"          // the requests of a sweep that finds nothing
	RecoverSeconds  = "recoverSeconds"        // from the process's start to the last orphan's end
	RemovedSeconds  = "removedSeconds"        // from the process's start to the last deletion
	TimeoutSeconds  = "attemptTimeoutSeconds" // of the orphaned attempts
	BaseSeconds     = "sameWithoutSeconds"    // what as many submissions took that nothing happened to
	Orphans         = "orphans"
	Doubled         = "doubleEffects"
	BesideCount     = "beside" // what was done beside
)

// Count is how often something was requested.
type Count struct {
	Verb     string `json:"verb"`
	Group    string `json:"group,omitempty"`
	Resource string `json:"resource"` // with its subresource, as in tasksubmissions/status
	// Conflict: the API server refused it, since somebody had been first.
	Conflict bool `json:"conflict,omitempty"`
	// By is who made it: the client or whom the section measures.
	By     string `json:"by"`
	Number int    `json:"number"`
}

// Write reports whether it changes what is stored, if it is not refused.
func (c Count) Write() bool { return c.Verb != "GET" && c.Verb != "LIST" }

// SameSize is by what part two objects may differ in size that are as big as each other: names and times differ in length.
const SameSize = 0.02

// BareSize is how big the bare client's objects are beside ours: figure is SubmissionBytes or RecordBytes.
func (r Results) BareSize(figure string) float64 {
	return r.Ratio(SectionRate, Busy, Bare, Operator, Figure(figure))
}

// Requested adds up requests.
func (s Sample) Requested(which func(Count) bool) (sum float64) {
	for _, count := range s.Requests {
		if which(count) {
			sum += float64(count.Number)
		}
	}
	return sum
}

// PerSecond is the rate.
func PerSecond(s Sample) float64 { return float64(s.Submissions) / s.Seconds }

// CPUOf returns milliseconds of a program's processor time for each submission.
func CPUOf(program string) func(Sample) float64 {
	return func(s Sample) float64 { return s.CPU[program] * 1000 / float64(s.Submissions) }
}

// CPUOfAll is the same for everything that was measured. It adds up in one order: sums of floats depend on it.
func CPUOfAll(s Sample) (sum float64) {
	for _, program := range sortedKeys(s.CPU) {
		if program != Others {
			sum += CPUOf(program)(s)
		}
	}
	return sum
}

// ManagerShare is the operator's part of the whole processor time.
func ManagerShare(s Sample) float64 { return CPUOf(Manager)(s) / CPUOfAll(s) }

// P50 to P99 are milliseconds.
func P50(s Sample) float64 { return s.P50 }

// P95 is the same for 95 of 100.
func P95(s Sample) float64 { return s.P95 }

// P99 is the same for 99 of 100.
func P99(s Sample) float64 { return s.P99 }

// EtcdBytes is what etcd wrote to its log for each submission.
func EtcdBytes(s Sample) float64 { return s.EtcdBytes / float64(s.Submissions) }

// EtcdStored is by how much etcd's database grew for each submission; NaN: it was not measured, or compacted meanwhile.
func EtcdStored(s Sample) float64 {
	if s.EtcdStored <= 0 {
		return math.NaN()
	}
	return s.EtcdStored / float64(s.Submissions)
}

// Figure returns a figure by its name.
func Figure(name string) func(Sample) float64 {
	return func(s Sample) float64 {
		if value, ok := s.Figures[name]; ok {
			return value
		}
		return math.NaN()
	}
}

// Each returns how many of some requests there were for each submission.
func Each(which func(Count) bool) func(Sample) float64 {
	return func(s Sample) float64 { return s.Requested(which) / float64(s.Submissions) }
}

// Median returns the median over the pairs of a comparison of what a side shows; NaN: it was not measured.
func (r Results) Median(section, comparison, side string, of func(Sample) float64) float64 {
	return r.spreadOf(section, comparison, side, of).median
}

// Ratio returns the median over the pairs of one side's value divided by the other's.
func (r Results) Ratio(section, comparison, side, by string, of func(Sample) float64) float64 {
	return r.spreadOfRatio(section, comparison, side, by, of).median
}

func (r Results) pairs(section, comparison string) []Pair {
	if r[section] == nil {
		return nil
	}
	for _, c := range r[section].Comparisons {
		if c.Name == comparison {
			return c.Pairs
		}
	}
	return nil
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	switch n := len(sorted); {
	case n == 0:
		return math.NaN()
	case n%2 == 0:
		return (sorted[n/2-1] + sorted[n/2]) / 2
	default:
		return sorted[n/2]
	}
}

func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }

// String is for whoever watches it being measured.
func (s Sample) String() string {
	if s.Seconds == 0 {
		parts := ""
		for _, name := range sortedKeys(s.Figures) {
			parts += " " + name + "=" + number(s.Figures[name])
		}
		return strings.TrimSpace(parts)
	}
	text := number(PerSecond(s)) + "/s"
	if s.P50 > 0 {
		text += ", p50 " + number(s.P50) + " ms"
	}
	return text
}
