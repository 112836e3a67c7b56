package report

// beforeWork and afterWork are a figure of the operator's memory around as much work as was measured: the long run where
// there is one, and else what every run does.
func (r Results) beforeWork(figure string) spread {
	before := map[string]string{MemoryMiB: IdleMiB, LiveMiB: IdleLiveMiB}[figure]
	if long := r.spreadOf(SectionLong, Worked, Operator, Figure(before)); long.pairs > 0 {
		return long
	}
	return r.spreadOf(SectionMemory, Idle, Operator, Figure(figure))
}

func (r Results) afterWork(figure string) spread {
	if long := r.spreadOf(SectionLong, Worked, Operator, Figure(figure)); long.pairs > 0 {
		return long
	}
	return r.spreadOf(SectionMemory, Worked, Operator, Figure(figure))
}
