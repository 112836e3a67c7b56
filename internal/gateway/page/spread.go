package page

import (
	"math"
	"time"
)

// spread counts durations in whole seconds, which is what the API server's times are told in: each of the first sixteen
// by itself, and above that in steps of a tenth.
type spread struct {
	counts [steps]uint32
	total  uint32
}

const (
	exact  = 16
	growth = 1.1
	steps  = 168 // up to a year, nearly
)

func (s *spread) add(took time.Duration) {
	s.counts[step(took)]++
	s.total++
}

func step(took time.Duration) int {
	seconds := max(0, math.Floor(took.Seconds()))
	if seconds < exact {
		return int(seconds)
	}
	return min(steps-1, exact+int(math.Log(seconds/exact)/math.Log(growth)))
}

func (s *spread) merge(other *spread) {
	for i, count := range &other.counts {
		s.counts[i] += count
	}
	s.total += other.total
}

// within returns seconds in which a share of them were done: no fewer than it took, and a tenth more at most. Nothing was:
// -1.
func (s *spread) within(share float64) float64 {
	if s.total == 0 {
		return -1
	}
	wanted := uint32(math.Ceil(share * float64(s.total)))
	seen := uint32(0)
	for i, count := range &s.counts {
		if seen += count; count > 0 && seen >= wanted {
			return highest(i)
		}
	}
	return highest(steps - 1)
}

// highest is the greatest number of seconds that a step counts; the last one counts whatever is longer, too.
func highest(step int) float64 {
	if step < exact {
		return float64(step)
	}
	return math.Ceil(exact*math.Pow(growth, float64(step+1-exact))) - 1
}
