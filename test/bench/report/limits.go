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
	log                float64 // bytes of all revisions of one
	server             float64 // bytes of the API server's memory for one with its record
}

func (r Results) growth() growth {
	of := func(state, figure string) float64 { return r.Median(SectionHistory, state, Operator, Figure(figure)) }
	more := func(figure string) float64 { return of(Finished, figure) - of(Empty, figure) }
	// Etcd keeps more than what is stored in it: how much, the history tells, whose bytes are known.
	overhead := more(StoredBytes) / of(Finished, SeededBytes)
	size := func(figure string) float64 { return r.Median(SectionRate, Busy, Operator, Figure(figure)) * overhead }
	return growth{
		submission: size(SubmissionBytes), record: size(RecordBytes),
		log:    r.Median(SectionRate, Busy, Operator, EtcdBytes),
		server: more(ServerMiB) * (1 << 20) / of(Finished, Objects),
	}
}

// fits is how long submissions with their records can be kept at a rate within a quota.
func (g growth) fits(quota, rate float64) time.Duration {
	left := quota - rate*revisionsFor.Seconds()*g.log
	if left <= 0 || math.IsNaN(left) {
		return 0
	}
	return time.Duration(left / (rate * (g.submission + g.record)) * float64(time.Second))
}

// cluster is what a rate makes of a cluster.
func (r Results) cluster() block {
	b := block{name: "cluster", title: "What a rate makes of a cluster", head: []string{
		"submissions a second", "objects a day", "of this machine", "revisions in etcd", "kept within 2 GiB", "kept within 8 GiB", "API server's memory for an hour of them",
	}}
	g, most := r.growth(), r.Median(SectionRate, Saturated, Operator, PerSecond)
	for _, rate := range []float64{10, 100, 1000} {
		day := rate * 24 * time.Hour.Seconds()
		b.add(number(rate), number(2*day), unit(rate/most, "×"), mib(rate*revisionsFor.Seconds()*g.log/(1<<20)),
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
	b.add("all revisions of both, until etcd is compacted", number(g.log))
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
