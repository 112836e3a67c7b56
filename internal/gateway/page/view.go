package page

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/inbox"
)

// View is what the page shows. All of its times are the gateway's, Now among them.
type View struct {
	Now time.Time `json:"now"`
	// AsOf is the time up to which everything is known, but for what is missing; zero: nothing has been read yet.
	AsOf time.Time `json:"asOf,omitzero"`
	// Trouble says why that is not now.
	Trouble string `json:"trouble,omitempty"`
	// Missing says what cannot be read at all, while the rest is shown.
	Missing string `json:"missing,omitempty"`
	// Namespaces are those that it shows; none: all.
	Namespaces []string `json:"namespaces"`
	Waiting    Listed   `json:"waiting"`
	InProcess  Listed   `json:"inProcess"`
	Recent     Recent   `json:"recent"`
}

// Listed is a long list, of which the oldest are shown.
type Listed struct {
	Total   int     `json:"total"`
	Reasons []Count `json:"reasons"`
	Items   []Item  `json:"items"`
}

// Count is how many there are for a reason.
type Count struct {
	Reason v1alpha1.Reason `json:"reason"`
	Total  int             `json:"total"`
}

// Recent is what finished within the last hour.
type Recent struct {
	Success int      `json:"success"`
	Failed  int      `json:"failed"`
	Minutes []Minute `json:"minutes"`
	Items   []Item   `json:"items"`
}

// Minute is one of the hour. Median and Most are the seconds from creation to completion of the middle one, and of the
// slowest of 95 in a hundred; absent where nothing finished.
type Minute struct {
	At      time.Time `json:"at"`
	Success int       `json:"success"`
	Failed  int       `json:"failed"`
	Median  *float64  `json:"median,omitempty"`
	Most    *float64  `json:"most,omitempty"`
}

// Item is one submission.
type Item struct {
	Namespace string          `json:"namespace"`
	Name      string          `json:"name"`
	Key       string          `json:"key,omitempty"`
	Template  string          `json:"template"`
	Phase     v1alpha1.Phase  `json:"phase"`
	Reason    v1alpha1.Reason `json:"reason"`
	Attempts  int32           `json:"attempts"`
	// Since is from when on it waits for a person, or is in process; or when it finished.
	Since time.Time `json:"since"`
	// For is what a person has to do.
	For string `json:"for,omitempty"`
	// Deleted says that its submission is gone, and its record asks.
	Deleted bool `json:"deleted,omitempty"`
	// Took is the seconds from creation to completion.
	Took *float64 `json:"took,omitempty"`
}

// shown is how many of a long list are.
const shown = 50

// known is all that a view is made of.
type known struct {
	rows      []Row // what has not finished
	abandoned []Row // records that ask, should their submission be gone
	verdicts  map[types.NamespacedName]verdict
	hour      [minutes]minute
	last      []Row
	standing
	namespaces []string
}

// build makes a view of what is known.
func build(k known, now time.Time) *View {
	waiting, inProcess := k.sorted()
	return &View{
		Now: now, AsOf: k.asOf, Trouble: k.trouble, Missing: k.missing, Namespaces: append([]string{}, k.namespaces...),
		Waiting: listed(waiting), InProcess: listed(inProcess), Recent: recent(k.hour, k.last),
	}
}

// sorted tells what waits for a person from what goes on by itself.
func (k *known) sorted() (waiting, inProcess []Item) {
	there := make(map[types.NamespacedName]bool, len(k.rows))
	for i := range k.rows {
		row := &k.rows[i]
		there[row.NamespacedName] = true
		if what := k.asks(row); what != "" {
			item := itemOf(row, row.Stalled)
			item.For = what
			waiting = append(waiting, item)
			continue
		}
		inProcess = append(inProcess, itemOf(row, begun(row)))
	}
	for i := range k.abandoned {
		row := &k.abandoned[i]
		if !there[row.NamespacedName] {
			item := itemOf(row, row.Stalled)
			item.For, item.Deleted = inbox.Asks(row.Reason), true
			waiting = append(waiting, item)
		}
	}
	return waiting, inProcess
}

// asks is what a person has to do about a submission; nothing: it goes on by itself.
func (k *known) asks(row *Row) string {
	if what := inbox.Asks(row.Reason); what != "" || !inbox.MayAsk(row.Reason) {
		return what
	}
	if found := k.verdicts[row.NamespacedName]; found.reason == row.Reason {
		return found.what
	}
	return ""
}

// begun is from when on something is in process.
func begun(row *Row) time.Time {
	if row.Phase == v1alpha1.PhaseProcessing && !row.Begun.IsZero() {
		return row.Begun
	}
	return row.Created
}

func itemOf(row *Row, since time.Time) Item {
	return Item{
		Namespace: row.Namespace, Name: row.Name, Key: row.Key, Template: row.Template,
		Phase: row.Phase, Reason: row.Reason, Attempts: row.Attempts, Since: since,
	}
}

func listed(items []Item) Listed {
	counts := map[v1alpha1.Reason]int{}
	for i := range items {
		counts[items[i].Reason]++
	}
	l := Listed{Total: len(items), Reasons: []Count{}, Items: items}
	for reason, total := range counts {
		l.Reasons = append(l.Reasons, Count{reason, total})
	}
	slices.SortFunc(l.Reasons, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Reason, b.Reason))
	})
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), a.Since.Compare(b.Since), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	l.Items = append([]Item{}, items[:min(len(items), shown)]...)
	return l
}

// rank puts last what waits for a time that its submitter has chosen: it may be the oldest for weeks.
func rank(item *Item) int {
	if item.Reason == v1alpha1.ReasonNotYet {
		return 1
	}
	return 0
}

func recent(hour [minutes]minute, last []Row) Recent {
	r := Recent{Minutes: make([]Minute, minutes), Items: []Item{}}
	for i := range hour {
		m := &hour[i]
		r.Success += m.success
		r.Failed += m.failed
		r.Minutes[i] = Minute{At: time.Unix(m.number*60, 0).UTC(), Success: m.success, Failed: m.failed}
		if m.took.total > 0 {
			median, most := m.took.within(0.5), m.took.within(0.95)
			r.Minutes[i].Median, r.Minutes[i].Most = &median, &most
		}
	}
	for i := range last {
		item, took := itemOf(&last[i], last[i].Ended), max(0, last[i].Ended.Sub(last[i].Created).Seconds())
		item.Took = &took
		r.Items = append(r.Items, item)
	}
	return r
}
