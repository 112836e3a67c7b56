package report

import (
	"math"
	"strconv"
)

// Comparisons of more than one section's interest.
const (
	Saturated  = "256 clients"
	Busy       = "32 clients"
	Single     = "1 client"
	TenASec    = "10 a second"
	AtOnce     = "all at once"
	Straight   = "straight path"
	Claiming   = "business key"
	Again      = "duplicate"
	Retried    = "retry"
	Recreated  = "re-creation"
	Life       = "whole life"
	Empty      = "nothing finished"
	Finished   = "much finished"
	Due        = "removal of what is due"
	Lost       = "orphans"
	Idle       = "idle"
	Waiting    = "waiting"
	Worked     = "after work"
	Beside     = "beside a slow receiver"
	BesideFast = "beside as much work that no receiver delays"
	Alone      = "alone"
	Stampede   = "one key"
	Active     = "two active operators"
)

// Goal is what the operator is held to.
type Goal struct {
	Text   string
	Target string
	Value  string
	Spread string // the least and the most that was measured
	State  string // met, missed or not measured
	// Missed goals say where to look.
	Why string
}

// Goals of which more is known than that they are missed.
const (
	goalBusy      = "rate with 32 clients / bare client's rate"
	goalSaturated = "rate with 256 clients / bare client's rate"
	goalManager   = "the manager's part of all processor time"
	goalWorked    = "memory of an operator that has carried out what has finished"
	goalJobs      = "rate / the Job controller's"
	goalJobsCPU   = "API server's processor time / that for a Job"
	goalRecovery  = "recovery of the orphans of a killed process"
	goalUnseen    = "the same where the webhooks do not see them"
	goalSlow      = "p50 of a fast receiver beside a slow one, beside that alone and 10 ms"
	goalStampede  = "rate of the others in a stampede of duplicates / in one of refused creates"
)

// goal compares a value with a limit.
func goal(text, unit string, value spread, most bool, limit float64) Goal {
	g := Goal{Text: text, Value: number(value.median) + unit, State: "met", Spread: value.leastToMost()}
	relation := "at least "
	if most {
		relation = "at most "
	}
	g.Target = relation + number(limit) + unit
	switch {
	case math.IsNaN(limit):
		g.Value, g.Target, g.State = "–", relation+"what is measured beside it", "not measured"
	case math.IsNaN(value.median):
		g.Value, g.State = "–", "not measured"
	case most && value.median > limit, !most && value.median < limit:
		g.State = "missed"
	}
	return g
}

// Goals returns all goals as they stand.
func (r Results) Goals() []Goal {
	atMost := func(text, unit string, value spread, limit float64) Goal { return goal(text, unit, value, true, limit) }
	atLeast := func(text, unit string, value spread, limit float64) Goal {
		return goal(text, unit, value, false, limit)
	}
	// Two rates that are the same differ by so much: noise is for a goal whose limit is the other side itself.
	const writeShare, latencyMargin, memoryMargin, noise = 0.90, 10, 1.10, 0.05
	straight := func(of func(Sample) float64) spread { return r.spreadOf(SectionWays, Straight, Operator, of) }
	goals := []Goal{
		atMost("writes of the operator for a submission", "", straight(Each(operatorWrite)), 3),
		atMost("reads by the reconciler for a submission", "", straight(Each(operatorRead)), 0),
		atLeast(goalBusy, "", r.spreadOfRatio(SectionRate, Busy, Operator, Bare, PerSecond), writeShare),
		atLeast(goalSaturated, "", r.spreadOfRatio(SectionRate, Saturated, Operator, Bare, PerSecond), writeShare),
		atMost("p50 at 10 a second, beside the same four writes one after another and 10 ms", " ms",
			r.spreadOf(SectionGentle, TenASec, Operator, P50), r.Median(SectionGentle, TenASec, Bare, P50)+latencyMargin),
		atLeast(goalJobs, "", r.spreadOfRatio(SectionPeer, AtOnce, Operator, Jobs, PerSecond), 2),
		atMost(goalJobsCPU, "", r.spreadOfRatio(SectionPeer, AtOnce, Operator, Jobs, CPUOf(APIServer)), 0.5),
		atMost(goalManager, "", r.spreadOf(SectionRate, Busy, Operator, ManagerShare), 0.15),
		atMost("memory of an operator that starts on what has finished", " MiB",
			r.spreadOf(SectionHistory, Finished, Operator, Figure(MemoryMiB)), r.Median(SectionHistory, Empty, Operator, Figure(MemoryMiB))*memoryMargin),
		atMost(goalWorked, " MiB", r.afterWork(MemoryMiB), r.beforeWork(MemoryMiB).median*memoryMargin),
		atMost(goalRecovery, " s", r.spreadOf(SectionHistory, Lost, Operator, Figure(RecoverSeconds)), r.recoveryLimit()),
		atMost("writes for a duplicate, besides its own create that is refused", "", r.spreadOf(SectionWays, Again, Operator, Each(landed)), 0),
		atMost(goalSlow, " ms", r.spreadOf(SectionSlow, TenASec, Beside, P50), r.Median(SectionSlow, TenASec, Alone, P50)+latencyMargin),
		atLeast(goalStampede, "",
			r.spreadOfRatio(SectionStampede, Stampede, Duplicate, Refused, PerSecond), 1-noise),
		atLeast(goalUnseen, "", r.spreadOfRatio(SectionStampede, Stampede, Unseen, Refused, PerSecond), 1-noise),
		atMost("effects more than one, of two active operators", "", r.spreadOf(SectionTogether, Active, Operator, Figure(Doubled)).worst(), 0),
	}
	for i := range goals {
		if goals[i].State == "missed" {
			goals[i].Why = r.why(goals[i].Text)
		}
	}
	return goals
}

// recoveryLimit is the attempt's time-out, the grace, and the time that as many submissions take.
func (r Results) recoveryLimit() float64 {
	const grace = 5
	lost := func(name string) float64 { return r.Median(SectionHistory, Lost, Operator, Figure(name)) }
	return lost(TimeoutSeconds) + grace + lost(BaseSeconds)
}

func operatorWrite(c Count) bool { return c.By == Operator && landed(c) }

// operatorRefused is a write that somebody else had made before.
func operatorRefused(c Count) bool { return c.By == Operator && c.Write() && c.Conflict }

// operatorRead leaves out lists: what is due is looked for by time, however much there is to do.
func operatorRead(c Count) bool { return c.By == Operator && c.Verb == "GET" }

// landed reports whether something was stored, whoever wanted it.
func landed(c Count) bool { return c.Write() && !c.Conflict }

// number prints three digits that matter.
func number(value float64) string {
	switch size := math.Abs(value); {
	case math.IsNaN(value) || math.IsInf(value, 0):
		return "–"
	case size < 1000:
		return strconv.FormatFloat(value, 'g', 3, 64)
	default:
		return strconv.FormatFloat(value, 'f', 0, 64)
	}
}
