package report

import "math"

// beforeWork and afterWork are a figure of the operator's memory around as much work as was measured: the long run where
// there is one, and else what every run does.
func (r Results) beforeWork(figure string) float64 {
	before := map[string]string{MemoryMiB: IdleMiB, LiveMiB: IdleLiveMiB}[figure]
	if long := r.Median(SectionLong, Worked, Operator, Figure(before)); !math.IsNaN(long) {
		return long
	}
	return r.Median(SectionMemory, Idle, Operator, Figure(figure))
}

func (r Results) afterWork(figure string) float64 {
	if long := r.Median(SectionLong, Worked, Operator, Figure(figure)); !math.IsNaN(long) {
		return long
	}
	return r.Median(SectionMemory, Worked, Operator, Figure(figure))
}
