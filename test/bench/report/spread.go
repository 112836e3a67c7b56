package report

import (
	"fmt"
	"math"
)

// spread is what the pairs of a comparison show of one figure.
type spread struct {
	median, least, most float64
	pairs               int
}

// spreadOf returns that of a side.
func (r Results) spreadOf(section, comparison, side string, of func(Sample) float64) spread {
	return r.spread(section, comparison, func(p Pair) float64 {
		if sample, ok := p.Sides[side]; ok {
			return of(sample)
		}
		return math.NaN()
	})
}

// spreadOfRatio returns that of one side's value divided by the other's.
func (r Results) spreadOfRatio(section, comparison, side, by string, of func(Sample) float64) spread {
	return r.spread(section, comparison, func(p Pair) float64 { return of(p.Sides[side]) / of(p.Sides[by]) })
}

func (r Results) spread(section, comparison string, of func(Pair) float64) spread {
	var values []float64
	s := spread{least: math.Inf(1), most: math.Inf(-1)}
	for _, pair := range r.pairs(section, comparison) {
		if value := of(pair); !math.IsNaN(value) {
			values = append(values, value)
			s.least, s.most = min(s.least, value), max(s.most, value)
		}
	}
	s.median, s.pairs = median(values), len(values)
	return s
}

// in prints the median with its unit and, in parentheses, the least and the most; or that it was measured once.
func (s spread) in(unit string) string {
	if unit != "" {
		unit = " " + unit
	}
	return number(s.median) + unit + s.parentheses()
}

func (s spread) parentheses() string {
	least, most := number(s.least), number(s.most)
	switch {
	case s.pairs == 0 || math.IsInf(s.least, 0) || math.IsInf(s.most, 0):
		return ""
	case s.pairs == 1:
		return " (once)"
	case least == most:
		return ""
	default:
		return fmt.Sprintf(" (%s–%s)", least, most)
	}
}

// worst is judged by the most: of what must never be, no median tells.
func (s spread) worst() spread {
	if s.pairs > 0 {
		s.median = s.most
	}
	return s
}

// leastToMost is what a column of its own has.
func (s spread) leastToMost() string {
	switch s.pairs {
	case 0:
		return "–"
	case 1:
		return "measured once"
	default:
		return fmt.Sprintf("%s–%s of %d", number(s.least), number(s.most), s.pairs)
	}
}

// show and showRatio print what a table has in a cell.
func (r Results) show(section, comparison, side, unit string, of func(Sample) float64) string {
	return r.spreadOf(section, comparison, side, of).in(unit)
}

func (r Results) showRatio(section, comparison, side, by string, of func(Sample) float64) string {
	return r.spreadOfRatio(section, comparison, side, by, of).in("")
}
