package report

import (
	"fmt"
	"math"
	"strings"
)

// block is a table, for a terminal or a page.
type block struct {
	name  string
	title string
	head  []string
	rows  [][]string
}

// add adds a row, unless nothing in it was measured.
func (b *block) add(name string, cells ...string) {
	for _, cell := range cells {
		if !strings.HasPrefix(cell, "–") && cell != "" {
			b.rows = append(b.rows, append([]string{name}, cells...))
			return
		}
	}
}

func (r Results) blocks() []block {
	return []block{
		r.rates(), r.latencies(), r.ways(), r.processors(), r.profiles(), r.peer(), r.webhook(), r.gateway(), r.slow(), r.stampede(), r.memory(), r.replica(), r.history(), r.orphans(), r.together(), r.one(), r.cluster(), r.simulated(), r.goals(),
	}
}

func (r Results) rates() block {
	b := block{name: "rate", title: "Submissions a second to Success", head: []string{"", "operator", "bare client", "ratio", "p50", "p95", "p99"}}
	for _, name := range []string{Single, Busy, Saturated} {
		of := func(side, unit string, what func(Sample) float64) string {
			return r.show(SectionRate, name, side, unit, what)
		}
		b.add(name, of(Operator, "", PerSecond), of(Bare, "", PerSecond), r.showRatio(SectionRate, name, Operator, Bare, PerSecond),
			of(Operator, "ms", P50), of(Operator, "ms", P95), of(Operator, "ms", P99))
	}
	return b
}

func (r Results) latencies() block {
	b := block{name: "gentle", title: "From create to the end that a watch shows, at 10 a second", head: []string{"", "p50", "p95", "p99"}}
	add := func(name, section, side string) {
		of := func(what func(Sample) float64) string { return r.show(section, TenASec, side, "ms", what) }
		b.add(name, of(P50), of(P95), of(P99))
	}
	add("submissions", SectionGentle, Operator)
	add("the same writes by a bare client, one after another", SectionGentle, Bare)
	add("Jobs", SectionPeer, Jobs)
	add("submissions beside Jobs' controller", SectionPeer, Operator)
	return b
}

func (r Results) ways() block {
	b := block{name: "ways", title: "Requests for each submission", head: []string{"", "by the client", "by the operator", "its writes", "refused", "its reads", "bytes to etcd's log", "in its database"}}
	for _, name := range []string{Straight, Claiming, Again, Retried, Recreated, Life} {
		pairs := r.pairs(SectionWays, name)
		if len(pairs) == 0 {
			continue
		}
		s := pairs[0].Sides[Operator]
		b.add(name, s.list("client"), s.list(Operator), number(Each(operatorWrite)(s)), number(Each(operatorRefused)(s)),
			number(Each(operatorRead)(s)), number(EtcdBytes(s)), r.grown(s))
	}
	return b
}

// grown is by how much etcd's database grew for each submission of a way; a dash, where it was not measured, as it was not
// where not even a straight path made it grow, or where it was compacted meanwhile.
func (r Results) grown(s Sample) string {
	if math.IsNaN(r.Median(SectionWays, Straight, Operator, EtcdStored)) || s.EtcdStored < 0 {
		return "–"
	}
	return number(s.EtcdStored / float64(s.Submissions))
}

// list names somebody's requests, and how many there were for each submission. Sweeps are left out: they list by time.
func (s Sample) list(by string) string {
	var parts []string
	for _, count := range s.Requests {
		each := float64(count.Number) / float64(s.Submissions)
		if count.By != by || count.Verb == "LIST" {
			continue
		}
		part := count.Verb + " " + count.Resource
		if count.Conflict {
			part += " (refused)"
		}
		if each != 1 {
			part = number(each) + " × " + part
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func (r Results) processors() block {
	b := block{name: "cpu", title: "Processor time for 1,000 submissions, in seconds", head: []string{"", APIServer, Etcd, "manager or controller", "clients, receiver, kubelet", "all"}}
	add := func(name, section, comparison, side, worker string) {
		of := func(what func(Sample) float64) string { return r.show(section, comparison, side, "", what) }
		b.add(name, of(CPUOf(APIServer)), of(CPUOf(Etcd)), of(CPUOf(worker)), of(CPUOf(Clients)), of(CPUOfAll))
	}
	add("submissions, 32 clients", SectionRate, Busy, Operator, Manager)
	add("the bare client's same writes", SectionRate, Busy, Bare, Manager)
	add("submissions, 256 clients", SectionRate, Saturated, Operator, Manager)
	add("submissions beside Jobs' controller", SectionPeer, AtOnce, Operator, Manager)
	add("Jobs", SectionPeer, AtOnce, Jobs, Controller)
	return b
}

func (r Results) peer() block {
	b := block{name: "peer", title: "Beside as many Jobs, all created at once", head: []string{"", "a second", "writes of the operator or the controller", "bytes to etcd's log"}}
	for _, side := range []string{Operator, Jobs} {
		of := func(what func(Sample) float64) string { return r.show(SectionPeer, AtOnce, side, "", what) }
		b.add(side, of(PerSecond), of(Each(func(c Count) bool { return c.By == side && landed(c) })), of(EtcdBytes))
	}
	b.add("ratio", r.showRatio(SectionPeer, AtOnce, Operator, Jobs, PerSecond), "", r.showRatio(SectionPeer, AtOnce, Operator, Jobs, EtcdBytes))
	return b
}

func (r Results) webhook() block {
	b := block{name: "webhook", title: "With the webhooks, and without", head: []string{"", "a second", "p50", "manager's seconds for 1,000", "API server's"}}
	for _, side := range []string{With, Without} {
		of := func(unit string, what func(Sample) float64) string {
			return r.show(SectionWebhook, Busy, side, unit, what)
		}
		b.add(side, of("", PerSecond), of("ms", P50), of("", CPUOf(Manager)), of("", CPUOf(APIServer)))
	}
	ratio := func(what func(Sample) float64) string { return r.showRatio(SectionWebhook, Busy, With, Without, what) }
	b.add("ratio", ratio(PerSecond), ratio(P50), ratio(CPUOf(Manager)), ratio(CPUOf(APIServer)))
	return b
}

func (r Results) gateway() block {
	b := block{name: "gateway", title: "32 callers of one HTTP gateway, and of pkg/submit", head: []string{"", "a second", "p50", "p95", "gateway's seconds for 1,000", "clients' and receiver's", "API server's", "all"}}
	for _, side := range []string{Gateway, Library} {
		of := func(unit string, what func(Sample) float64) string {
			return r.show(SectionGateway, Busy, side, unit, what)
		}
		b.add(side, of("", PerSecond), of("ms", P50), of("ms", P95), of("", CPUOf(FrontDoor)), of("", CPUOf(Clients)), of("", CPUOf(APIServer)), of("", CPUOfAll))
	}
	ratio := func(what func(Sample) float64) string {
		return r.showRatio(SectionGateway, Busy, Gateway, Library, what)
	}
	b.add("ratio", ratio(PerSecond), ratio(P50), ratio(P95), "", "", ratio(CPUOf(APIServer)), ratio(CPUOfAll))
	return b
}

func (r Results) slow() block {
	b := block{name: "slow", title: "A fast receiver at 10 a second, and one that takes a second beside it", head: []string{"", "p50", "p95", "p99", "processors busy"}}
	for _, side := range []string{Alone, Beside, BesideFast} {
		of := func(unit string, what func(Sample) float64) string {
			return r.show(SectionSlow, TenASec, side, unit, what)
		}
		b.add(side, of("ms", P50), of("ms", P95), of("ms", P99), of("", processorsOfAll))
	}
	return b
}

func (r Results) stampede() block {
	b := block{name: "stampede", title: "Eight clients, while sixteen others do nothing but be refused", head: []string{"", "a second", "p50", "p95", "refused meanwhile"}}
	for _, side := range []string{Duplicate, Unseen, Refused} {
		of := func(unit string, what func(Sample) float64) string {
			return r.show(SectionStampede, Stampede, side, unit, what)
		}
		b.add(side, of("", PerSecond), of("ms", P50), of("ms", P95), of("", Figure(BesideCount)))
	}
	for _, side := range []string{Duplicate, Unseen} {
		b.add(side+" / "+Refused, r.showRatio(SectionStampede, Stampede, side, Refused, PerSecond), "", "", "")
	}
	return b
}

func (r Results) memory() block {
	b := block{name: "memory", title: "Memory of the operator", head: []string{"", "resident", "live heap", "submissions"}}
	for _, state := range []string{Idle, Worked, Waiting} {
		of := func(figure string) spread { return r.spreadOf(SectionMemory, state, Operator, Figure(figure)) }
		b.add(state, of(MemoryMiB).in("MiB"), of(LiveMiB).in("MiB"), number(of(Objects).median))
	}
	long := func(figure string) spread { return r.spreadOf(SectionLong, Worked, Operator, Figure(figure)) }
	b.add("before a long run", long(IdleMiB).in("MiB"), long(IdleLiveMiB).in("MiB"), "")
	b.add("after a long run", long(MemoryMiB).in("MiB"), long(LiveMiB).in("MiB"), number(long(Objects).median))
	return b
}

func (r Results) history() block {
	b := block{name: "history", title: "An operator that is started", head: []string{"", "submissions there", "ready after", "first Success after", "its memory", "requests of a sweep with nothing due", "API server's memory"}}
	for _, state := range []string{Empty, Finished} {
		of := func(unit, figure string) string { return r.show(SectionHistory, state, Operator, unit, Figure(figure)) }
		b.add(state, number(r.Median(SectionHistory, state, Operator, Figure(Objects))), of("s", ReadySeconds), of("s", FirstSeconds), of("MiB", MemoryMiB), of("s", SweepSeconds), of("MiB", ServerMiB))
	}
	return b
}

func (r Results) orphans() block {
	b := block{name: "orphans", title: "After a restart", head: []string{"", "how many", "first new Success after", "all over after", "limit"}}
	of := func(comparison, figure string) spread {
		return r.spreadOf(SectionHistory, comparison, Operator, Figure(figure))
	}
	b.add("attempts of a killed process", number(of(Lost, Orphans).median), of(Lost, FirstSeconds).in("s"), of(Lost, RecoverSeconds).in("s"), seconds(r.recoveryLimit()))
	b.add("submissions whose time is over", number(of(Due, Objects).median), "", of(Due, RemovedSeconds).in("s"), "")
	return b
}

func (r Results) together() block {
	b := block{name: "together", title: "Two active operators on the same submissions", head: []string{"", "submissions", "effects more than one", "requests of both"}}
	for _, pair := range r.pairs(SectionTogether, Active) {
		s := pair.Sides[Operator]
		b.add("each business key under two keys", number(float64(s.Submissions)), number(s.Figures[Doubled]), s.list(Operator))
	}
	return b
}

func (r Results) goals() block {
	b := block{name: "goals", title: "What the operator is held to, and where it stands", head: []string{"", "goal", "measured", "least to most", ""}}
	for _, g := range r.Goals() {
		b.rows = append(b.rows, []string{g.Text, g.Target, g.Value, g.Spread, g.State})
	}
	return b
}

func unit(value float64, unit string) string {
	if math.IsNaN(value) {
		return "–"
	}
	return fmt.Sprintf("%s %s", number(value), unit)
}

func ms(value float64) string      { return unit(value, "ms") }
func seconds(value float64) string { return unit(value, "s") }
func mib(value float64) string     { return unit(value, "MiB") }
