package page

import (
	"cmp"
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/inbox"
)

// verdict is what was found out about a submission whose reason asks for a person in some circumstances only.
type verdict struct {
	reason v1alpha1.Reason
	what   string // what a person has to do; nothing: it goes on by itself
	at     time.Time
}

// Each look is at so many, and the next comes after a pause: few are between attempts for long, and each costs some reads.
const (
	lookAt = 25
	pause  = 5 * time.Second
	// patience is for one of them: the others wait for it.
	patience = 5 * time.Second
)

// look finds out about those that were not looked at for longest.
func (p *Page) look(ctx context.Context) {
	candidates := p.candidates()
	reader := &inbox.Reader{API: p.api}
	for _, row := range candidates {
		what, err := ask(ctx, reader, row.NamespacedName)
		p.judge(&row, what, err)
	}
}

// judge notes what was found out. Where that failed, what was known stays, and its turn is over all the same: otherwise one
// that cannot be read would keep the others from theirs.
func (p *Page) judge(row *Row, what string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := verdict{reason: row.Reason, what: what}
	if err != nil {
		found = p.verdicts[row.NamespacedName]
	}
	found.at = p.now()
	p.verdicts[row.NamespacedName] = found
}

// ask reads one, live.
func ask(ctx context.Context, reader *inbox.Reader, name types.NamespacedName) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	submission := &v1alpha1.TaskSubmission{}
	if err := reader.API.Get(ctx, name, submission); err != nil {
		return "", client.IgnoreNotFound(err)
	}
	subject, err := reader.Complete(ctx, submission)
	if err != nil {
		return "", err
	}
	return subject.WaitsFor(), nil
}

// candidates returns those that are next, and forgets verdicts about what is none any more.
func (p *Page) candidates() []Row {
	all := slices.DeleteFunc(p.living(), func(row Row) bool { return !inbox.MayAsk(row.Reason) })
	p.mu.Lock()
	defer p.mu.Unlock()
	still := make(map[types.NamespacedName]verdict, len(all))
	for i := range all {
		if found, ok := p.verdicts[all[i].NamespacedName]; ok {
			still[all[i].NamespacedName] = found
		}
	}
	p.verdicts = still
	slices.SortFunc(all, func(a, b Row) int {
		return cmp.Or(still[a.NamespacedName].at.Compare(still[b.NamespacedName].at), a.Created.Compare(b.Created))
	})
	return all[:min(len(all), lookAt)]
}
