package report

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// made are results in which every goal is met by a hair.
func made() Results {
	requested := func(by string, conflict bool, n int) Count {
		return Count{Verb: "POST", Group: "taskonce.dev", Resource: "taskrecords", By: by, Conflict: conflict, Number: n}
	}
	cpu := map[string]float64{Manager: 1.4, APIServer: 8, Etcd: 0.6, Others: 50}
	figures := func(pairs ...any) Sample {
		s := Sample{Figures: map[string]float64{}}
		for i := 0; i < len(pairs); i += 2 {
			s.Figures[pairs[i].(string)] = pairs[i+1].(float64)
		}
		return s
	}
	one := func(section, comparison string, sides map[string]Sample) (string, Comparison) {
		return section, Comparison{Name: comparison, Pairs: []Pair{{First: Operator, Sides: sides}}}
	}
	results := Results{}
	put := func(section string, c Comparison) {
		if results[section] == nil {
			results[section] = &Section{Name: section, Machine: Machine{Processors: 2, Go: "go1.26", Date: "2026-11-30"}}
		}
		results[section].Comparisons = append(results[section].Comparisons, c)
	}
	put(one(SectionRate, Busy, map[string]Sample{
		Operator: {Submissions: 900, Seconds: 10, CPU: cpu, EtcdBytes: 7200 * 900, EtcdStored: 9000 * 900, Figures: map[string]float64{SubmissionBytes: 2000, RecordBytes: 2000}},
		Bare:     {Submissions: 1000, Seconds: 10, CPU: cpu},
	}))
	put(one(SectionRate, Saturated, map[string]Sample{Operator: {Submissions: 900, Seconds: 9}, Bare: {Submissions: 1000, Seconds: 10}}))
	put(one(SectionGentle, TenASec, map[string]Sample{Operator: {P50: 30, Seconds: 1}, Bare: {P50: 20, Seconds: 1}}))
	put(one(SectionWays, Straight, map[string]Sample{Operator: {Submissions: 10, Requests: []Count{requested(Operator, false, 30)}}}))
	for name, bytes := range map[string]float64{Claiming: 8000, Life: 8800} {
		put(one(SectionWays, name, map[string]Sample{Operator: {Submissions: 10, EtcdBytes: bytes * 10}}))
	}
	put(one(SectionSlow, TenASec, map[string]Sample{Alone: {P50: 20, Seconds: 1}, Beside: {P50: 30, Seconds: 1}, BesideFast: {P50: 30, Seconds: 1}}))
	put(one(SectionWebhook, Busy, map[string]Sample{With: {Submissions: 100, Seconds: 2, CPU: cpu}, Without: {Submissions: 100, Seconds: 1, CPU: cpu}}))
	put(one(SectionWays, Again, map[string]Sample{Operator: {Submissions: 10, Requests: []Count{requested("client", true, 10)}}}))
	put(one(SectionPeer, AtOnce, map[string]Sample{
		Operator: {Submissions: 100, Seconds: 1, CPU: map[string]float64{APIServer: 1}}, Jobs: {Submissions: 100, Seconds: 2, CPU: map[string]float64{APIServer: 2}},
	}))
	put(one(SectionStampede, Stampede, map[string]Sample{Duplicate: {Submissions: 95, Seconds: 1}, Unseen: {Submissions: 95, Seconds: 1}, Refused: {Submissions: 100, Seconds: 1}}))
	put(one(SectionGateway, Busy, map[string]Sample{Gateway: {Submissions: 100, Seconds: 2, CPU: cpu}, Library: {Submissions: 100, Seconds: 1, CPU: cpu}}))
	put(one(SectionMemory, Idle, map[string]Sample{Operator: figures(MemoryMiB, 50.0)}))
	put(one(SectionMemory, Worked, map[string]Sample{Operator: figures(MemoryMiB, 55.0)}))
	put(one(SectionHistory, Empty, map[string]Sample{Operator: figures(MemoryMiB, 50.0, StoredBytes, 0.0, ServerMiB, 100.0)}))
	put(one(SectionHistory, Finished, map[string]Sample{Operator: figures(MemoryMiB, 55.0, StoredBytes, 6e6, SeededBytes, 4e6, ServerMiB, 200.0, Objects, 1000.0)}))
	put(one(SectionHistory, Lost, map[string]Sample{Operator: figures(RecoverSeconds, 55.0, TimeoutSeconds, 40.0, BaseSeconds, 10.0)}))
	put(one(SectionTogether, Active, map[string]Sample{Operator: figures(Doubled, 0.0)}))
	results[SectionRate].Of(Busy).Profiles = map[string]Profile{Operator: {APIServer: {"JSON": 0.75, "CEL": 0.25}}, Bare: {APIServer: {"JSON": 1}}}
	return results
}

// edit changes a side of the only pair of a comparison.
func (r Results) edit(section, comparison, side string, change func(*Sample)) {
	pair := r[section].Of(comparison).Pairs[0]
	sample := pair.Sides[side]
	change(&sample)
	pair.Sides[side] = sample
}

func TestEveryGoalCanBeMetAndMissed(t *testing.T) {
	for _, g := range made().Goals() {
		if g.State != "met" {
			t.Errorf("%s: %s is %s, of %s", g.Text, g.Value, g.State, g.Target)
		}
	}
	for _, g := range (Results{}).Goals() {
		if g.State != "not measured" {
			t.Errorf("nothing was measured, and %s: %s", g.Text, g.State)
		}
	}
	figure := func(name string, value float64) func(*Sample) {
		return func(s *Sample) { s.Figures = map[string]float64{name: value, TimeoutSeconds: 40, BaseSeconds: 10} }
	}
	for i, miss := range []func(Results){
		func(r Results) { r.edit(SectionWays, Straight, Operator, func(s *Sample) { s.Requests[0].Number++ }) },
		func(r Results) {
			r.edit(SectionWays, Straight, Operator, func(s *Sample) { s.Requests = []Count{{Verb: "GET", By: Operator, Number: 1}} })
		},
		func(r Results) { r.edit(SectionRate, Busy, Operator, func(s *Sample) { s.Seconds++ }) },
		func(r Results) { r.edit(SectionRate, Saturated, Operator, func(s *Sample) { s.Seconds += 2 }) },
		func(r Results) { r.edit(SectionGentle, TenASec, Operator, func(s *Sample) { s.P50++ }) },
		func(r Results) { r.edit(SectionPeer, AtOnce, Operator, func(s *Sample) { s.Seconds++ }) },
		func(r Results) {
			r.edit(SectionPeer, AtOnce, Operator, func(s *Sample) { s.CPU = map[string]float64{APIServer: 1.1} })
		},
		func(r Results) {
			r.edit(SectionRate, Busy, Operator, func(s *Sample) { s.CPU = map[string]float64{Manager: 2, APIServer: 8, Others: 9} })
		},
		func(r Results) { r.edit(SectionHistory, Finished, Operator, figure(MemoryMiB, 56)) },
		func(r Results) { r.edit(SectionMemory, Worked, Operator, figure(MemoryMiB, 56)) },
		func(r Results) { r.edit(SectionHistory, Lost, Operator, figure(RecoverSeconds, 56)) },
		func(r Results) {
			r.edit(SectionWays, Again, Operator, func(s *Sample) { s.Requests[0].Conflict = false })
		},
		func(r Results) { r.edit(SectionSlow, TenASec, Beside, func(s *Sample) { s.P50++ }) },
		func(r Results) { r.edit(SectionStampede, Stampede, Duplicate, func(s *Sample) { s.Seconds++ }) },
		func(r Results) { r.edit(SectionStampede, Stampede, Unseen, func(s *Sample) { s.Seconds++ }) },
		func(r Results) { r.edit(SectionTogether, Active, Operator, figure(Doubled, 1)) },
	} {
		results := made()
		miss(results)
		for j, g := range results.Goals() {
			if missed := g.State == "missed"; missed != (i == j) {
				t.Errorf("change %d: goal %d (%s) is %s", i, j, g.Text, g.State)
			}
		}
	}
}

func TestMediansAreOfPairs(t *testing.T) {
	results := Results{}
	section := &Section{Name: SectionRate}
	for _, seconds := range [][2]float64{{1, 1}, {10, 5}, {4, 3}} {
		into := section.Of(Busy)
		into.Pairs = append(into.Pairs, Pair{Sides: map[string]Sample{Operator: {Submissions: 60, Seconds: seconds[0]}, Bare: {Submissions: 60, Seconds: seconds[1]}}})
	}
	results[SectionRate] = section
	if got := results.Ratio(SectionRate, Busy, Operator, Bare, PerSecond); math.Abs(got-0.75) > 1e-9 {
		t.Errorf("the median of 1, 0.5 and 0.75 is %v", got)
	}
	if got := results.Median(SectionRate, Busy, Operator, PerSecond); got != 15 {
		t.Errorf("the median of 60, 6 and 15 is %v", got)
	}
}

func TestWhatFits(t *testing.T) {
	g := made().growth()
	if g.submission != 3000 || g.record != 3000 || g.revisions != 9000 || !g.measured || g.written != 7200 || g.removal != 1000 {
		t.Fatalf("%+v", g)
	}
	// A rate of 10 needs 10 × 600 × 9,000 bytes for its revisions, and then 60,000 bytes for each second.
	if got := g.fits(60_000*3600+54_000_000, 10); got != time.Hour {
		t.Errorf("%s", got)
	}
	if got := g.fits(1<<30, 1e6); got != 0 {
		t.Errorf("a million a second fit for %s", got)
	}
	older := made()
	older.edit(SectionRate, Busy, Operator, func(s *Sample) { s.EtcdStored = 0 })
	if g := older.growth(); g.revisions != 7200*1.5 || g.measured {
		t.Errorf("etcd has half as much again as what is stored in it, and of 7,200 bytes written %v", g.revisions)
	}
}

// TestEverythingIsOnThePage: each table has rows, and stands on the page.
func TestEverythingIsOnThePage(t *testing.T) {
	page, err := made().Page()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range made().blocks() {
		if len(b.rows) == 0 {
			t.Errorf("nothing is made up for the table of %s", b.name)
		}
		if !strings.Contains(page, "| "+strings.Join(b.head, " | ")+" |") {
			t.Errorf("the page has no table of %s", b.name)
		}
		for _, row := range b.rows {
			if len(row) != len(b.head) {
				t.Errorf("a row of %s has %d cells, and the head %d", b.name, len(row), len(b.head))
			}
		}
	}
	if strings.Contains(page, "NaN") || strings.Contains(page, "Inf") {
		t.Error("there is a figure on the page that is none")
	}
	if _, err := (Results{}).Page(); err != nil {
		t.Error(err)
	}
	if picture := made().Picture(); strings.Count(picture, "<rect") < 6 || !strings.HasSuffix(picture, "</svg>\n") {
		t.Errorf("%s", picture)
	}
}

// TestThePageIsOfTheSamples recomputes every figure that is published.
func TestThePageIsOfTheSamples(t *testing.T) {
	results, err := Read("../measured")
	if err != nil {
		t.Fatal(err)
	}
	page, err := results.Page()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"scale.md": page, "scale.svg": results.Picture()} {
		got, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("docs/%s is not what the samples say: run make generate", name)
		}
	}
	if faults := results.Faults(); len(faults) > 0 {
		t.Errorf("samples with faults are published: %q", faults)
	}
}

// TestTheBareClientsObjectsAreAsBig judges the samples that are published.
func TestTheBareClientsObjectsAreAsBig(t *testing.T) {
	results, err := Read("../measured")
	if err != nil {
		t.Fatal(err)
	}
	for _, figure := range []string{SubmissionBytes, RecordBytes} {
		if ratio := results.BareSize(figure); math.Abs(ratio-1) > SameSize || math.IsNaN(ratio) {
			t.Errorf("the bare client's %s are %v of the operator's", figure, ratio)
		}
	}
}

func TestSectionsAreKept(t *testing.T) {
	dir := t.TempDir()
	want := made()
	for _, section := range want {
		if err := section.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Read(dir)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d sections of %d: %v", len(got), len(want), err)
	}
	first, _ := got.Page()
	second, _ := want.Page()
	if first != second {
		t.Error("what is read is not what was written")
	}
}
