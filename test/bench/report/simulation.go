package report

import (
	"math"
	"time"
)

// A day is simulated second by second: so many submissions are created and succeed at once, are kept for their time, and
// are removed no faster than the sweep looks at them, each twice. Every five minutes the API server has etcd compacted up
// to where it was five minutes before; until then etcd has the older revisions, and those of what was removed.
const (
	daySeconds   = 24 * 60 * 60
	compaction   = 5 * 60
	sweepDefault = 100 // --sweep-rate
	looks        = 2   // at each submission: for itself, and for its record
)

// day is what is simulated.
type day struct {
	rate  float64 // submissions a second
	kept  int     // seconds
	sweep float64 // looks a second
}

// outcome is what came of it.
type outcome struct {
	standing float64 // submissions with their records, at most
	inUse    float64 // bytes that etcd has in use, at most
	full     int     // the second in which etcd has no more space; 0: none
}

// simulate plays a day.
func (g growth) simulate(d day, quota float64) (o outcome) {
	live := g.submission + g.record
	var standing, overdue, before, since float64 // since and before: bytes of revisions after, and before, the last compaction's point
	for t := 1; t <= daySeconds; t++ {
		if t > d.kept {
			overdue += d.rate
		}
		removed := min(overdue, d.sweep/looks)
		overdue -= removed
		standing += d.rate - removed
		since += d.rate*(g.revisions-live) + removed*(live+g.removal)
		o.standing, o.inUse = max(o.standing, standing), max(o.inUse, standing*live+before+since)
		if o.inUse > quota {
			o.full = t
			return o
		}
		if t%compaction == 0 {
			before, since = since, 0
		}
	}
	return o
}

// days are simulated: what fits, once with the sweep as it is installed and once with one that keeps up.
func (g growth) days() (days []day) {
	for _, rate := range []float64{10, 100, 1000} {
		fits := g.fits(quotaMost, rate).Truncate(time.Minute)
		kept := int(min(fits*8/10, 12*time.Hour).Seconds())
		if kept <= 0 {
			continue
		}
		days = append(days, day{rate, kept, sweepDefault})
		if enough := looks * rate * 1.1; enough > sweepDefault {
			days = append(days, day{rate, kept, enough})
		}
	}
	return days
}

func (r Results) simulated() block {
	b := block{name: "day", title: "A day in simulation, with 8 GiB for etcd", head: []string{
		"submissions a second", "kept for", "`--sweep-rate`", "submissions there at most", "etcd has in use at most", "etcd is full after",
	}}
	g := r.growth()
	if math.IsNaN(g.submission + g.record + g.revisions + g.removal) {
		return b
	}
	for _, d := range g.days() {
		o := g.simulate(d, quotaMost)
		full := "not in a day"
		if o.full > 0 {
			full = length(time.Duration(o.full) * time.Second)
		}
		b.add(number(d.rate), length(time.Duration(d.kept)*time.Second), number(d.sweep), number(o.standing), unit(o.inUse/(1<<30), "GiB"), full)
	}
	return b
}
