package page

import (
	"slices"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// minutes is how far back is looked.
const minutes = 60

// kept is how many of those that finished last are kept whole.
const kept = 20

// minute is what finished within one: its memory does not grow with what did.
type minute struct {
	number          int64 // since 1970
	success, failed int
	took            spread
}

// history is what finished within the last hour.
type history struct {
	ring [minutes]minute
	last []Row // the latest first
}

// add counts what has finished. What is replayed had finished before, and what is older than the hour is left out.
func (h *history) add(row Row, now time.Time) {
	if row.Ended.After(now) { // by the operator's clock
		row.Ended = now
	}
	if row.Replayed || !lately(&row, now) {
		return
	}
	number := minuteOf(row.Ended)
	slot := &h.ring[number%minutes]
	switch {
	case slot.number > number:
		return
	case slot.number < number:
		*slot = minute{number: number}
	}
	if row.Phase == v1alpha1.PhaseSuccess {
		slot.success++
	} else {
		slot.failed++
	}
	slot.took.add(row.Ended.Sub(row.Created))
	h.remember(row)
}

func (h *history) remember(row Row) {
	at, _ := slices.BinarySearchFunc(h.last, row, latestFirst)
	if at == kept {
		return
	}
	h.last = slices.Insert(h.last, at, row)
	h.last = h.last[:min(len(h.last), kept)]
}

// latestFirst lets what is added last be the first of a second.
func latestFirst(a, b Row) int {
	if b.Ended.After(a.Ended) {
		return 1
	}
	if a.Ended.After(b.Ended) {
		return -1
	}
	return 1
}

// within returns the hour up to now, a minute each, the oldest first.
func (h *history) within(now time.Time) [minutes]minute {
	var hour [minutes]minute
	first := minuteOf(now) - minutes + 1
	for i := range hour {
		hour[i].number = first + int64(i)
		if slot := &h.ring[hour[i].number%minutes]; slot.number == hour[i].number {
			hour[i] = *slot
		}
	}
	return hour
}

// latest returns those that finished last, within the hour up to now.
func (h *history) latest(now time.Time) []Row {
	end := len(h.last)
	for end > 0 && !lately(&h.last[end-1], now) {
		end--
	}
	return slices.Clone(h.last[:end])
}

func lately(row *Row, now time.Time) bool { return minuteOf(row.Ended) > minuteOf(now)-minutes }

func minuteOf(at time.Time) int64 { return at.Unix() / 60 }

func (h *history) clone() history {
	return history{ring: h.ring, last: slices.Clone(h.last)}
}

// merge adds what was counted elsewhere in the same minutes.
func merge(into *[minutes]minute, from [minutes]minute) {
	for i := range into {
		into[i].number = from[i].number
		into[i].success += from[i].success
		into[i].failed += from[i].failed
		into[i].took.merge(&from[i].took)
	}
}
