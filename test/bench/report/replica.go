package report

import "fmt"

// Room is how many submissions that wait a replica is to hold within its memory limit.
const Room = 10_000

// Replica is what one replica needs, as far as it was measured.
type Replica struct {
	// Gentle is processors at 10 submissions a second, with the webhooks; Busy is the same at as many as the machine carries.
	Gentle, Busy float64
	// Worked is MiB resident after work, and Full with Room submissions that wait.
	Worked, Full float64
}

// Replica returns it.
func (r Results) Replica() Replica {
	memory := func(state, figure string) float64 { return r.Median(SectionMemory, state, Operator, Figure(figure)) }
	each := (memory(Waiting, MemoryMiB) - memory(Idle, MemoryMiB)) / memory(Waiting, Objects)
	return Replica{
		// At a gentle rate it was measured without the webhooks, which cost each submission the same at any rate.
		Gentle: r.Median(SectionGentle, TenASec, Operator, processors) * r.Ratio(SectionWebhook, Busy, With, Without, CPUOf(Manager)),
		Busy:   r.Median(SectionWebhook, Busy, With, processors),
		Worked: memory(Worked, MemoryMiB),
		Full:   memory(Idle, MemoryMiB) + Room*each,
	}
}

// processorsOfAll is how many of them everything keeps busy that is measured.
func processorsOfAll(s Sample) float64 {
	return CPUOfAll(s) * float64(s.Submissions) / 1000 / s.Seconds
}

// processors is how many of them the manager keeps busy.
func processors(s Sample) float64 { return s.CPU[Manager] / s.Seconds }

func (r Results) replica() block {
	b := block{name: "replica", title: "What one replica uses, with the webhooks", head: []string{"", "processors", "resident memory"}}
	uses := r.Replica()
	b.add("after work, left alone", "", r.show(SectionMemory, Worked, Operator, "MiB", Figure(MemoryMiB)))
	b.add("10 submissions a second", number(uses.Gentle), "")
	b.add(fmt.Sprintf("%s a second, which is all that the API server of this machine stores", number(r.Median(SectionWebhook, Busy, With, PerSecond))), r.show(SectionWebhook, Busy, With, "", processors), "")
	b.add(fmt.Sprintf("%d submissions that wait", Room), "", mib(uses.Full))
	return b
}
