package report

import (
	"math"
	"strings"
	"time"
)

// What is known of a cluster without measuring: the space that etcd has unless it is told otherwise, and the most that
// its documentation suggests; and for how long the API server keeps old revisions, which it compacts every 5 minutes up
// to where it was 5 minutes before.
const (
	quotaDefault = 2 << 30
	quotaMost    = 8 << 30
	revisionsFor = 10 * time.Minute
)

// growth is what finished submissions cost a cluster, as far as it was measured.
type growth struct {
	submission, record float64 // bytes that etcd has in use for one
	revisions          float64 // bytes of all revisions of one, until etcd is compacted
	measured           bool    // the revisions were, and not computed from what was written
	written            float64 // bytes to etcd's log for one
	removal            float64 // bytes of the revisions of its removal
	server             float64 // bytes of the API server's memory for one with its record
}

func (r Results) growth() growth {
	of := func(state, figure string) float64 { return r.Median(SectionHistory, state, Operator, Figure(figure)) }
	more := func(figure string) float64 { return of(Finished, figure) - of(Empty, figure) }
	// Etcd keeps more than what is stored in it: how much, the history tells, whose bytes are known.
	overhead := more(StoredBytes) / of(Finished, SeededBytes)
	size := func(figure string) float64 { return r.Median(SectionRate, Busy, Operator, Figure(figure)) * overhead }
	g := growth{
		submission: size(SubmissionBytes), record: size(RecordBytes),
		revisions: r.Median(SectionRate, Busy, Operator, EtcdStored),
		written:   r.Median(SectionRate, Busy, Operator, EtcdBytes),
		server:    more(ServerMiB) * (1 << 20) / of(Finished, Objects),
	}
	if g.measured = !math.IsNaN(g.revisions); !g.measured {
		g.revisions = g.written * overhead
	}
	way := func(name string) float64 { return r.Median(SectionWays, name, Operator, EtcdBytes) }
	g.removal = (way(Life) - way(Claiming)) * g.revisions / g.written
	return g
}

// fits is how long submissions with their records can be kept at a rate within a quota.
func (g growth) fits(quota, rate float64) time.Duration {
	left := quota - rate*revisionsFor.Seconds()*g.revisions
	if left <= 0 || math.IsNaN(left) {
		return 0
	}
	return time.Duration(left / (rate * (g.submission + g.record)) * float64(time.Second))
}

// cluster is what a rate makes of a cluster.
func (r Results) cluster() block {
	b := block{name: "cluster", title: "What a rate makes of a cluster", head: []string{
		"submissions a second", "objects a day", "of this machine", "to etcd's log", "revisions in etcd", "kept within 2 GiB", "kept within 8 GiB", "API server's memory for an hour of them",
	}}
	g, most := r.growth(), r.Median(SectionRate, Saturated, Operator, PerSecond)
	for _, rate := range []float64{10, 100, 1000} {
		day := rate * 24 * time.Hour.Seconds()
		b.add(number(rate), number(2*day), unit(rate/most, "×"), unit(rate*g.written/(1<<20), "MiB/s"), mib(rate*revisionsFor.Seconds()*g.revisions/(1<<20)),
			length(g.fits(quotaDefault, rate)), length(g.fits(quotaMost, rate)), unit(rate*time.Hour.Seconds()*g.server/(1<<30), "GiB"))
	}
	return b
}

// one is what one finished submission leaves.
func (r Results) one() block {
	b := block{name: "one", title: "What one finished submission leaves", head: []string{"", "bytes"}}
	g := r.growth()
	b.add("its object in etcd", number(g.submission))
	b.add("its record in etcd", number(g.record))
	how := "computed from what is written to its log"
	if g.measured {
		how = "measured"
	}
	b.add("written to etcd's log", number(g.written))
	b.add("all revisions of both in etcd, until it is compacted: "+how, number(g.revisions))
	b.add("the API server's memory", number(g.server))
	return b
}

// length is a time as people say it.
func length(d time.Duration) string {
	switch {
	case d <= 0:
		return "–"
	case d < 2*time.Hour:
		return number(math.Floor(d.Minutes())) + " min"
	case d < 48*time.Hour:
		return strings.TrimSuffix(number(math.Floor(d.Hours())), ".0") + " h"
	default:
		return number(math.Floor(d.Hours()/24)) + " days"
	}
}
