package page

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/inbox"
)

// Page is what is known, and who asks for it. Make one with New.
type Page struct {
	api         client.WithWatch
	namespaces  []string
	now         func() time.Time
	submissions []*submissions
	records     []*records
	sources     []*source

	mu       sync.Mutex
	verdicts map[types.NamespacedName]verdict

	reading sync.Mutex // a page of a list
	saying  sync.Mutex
	said    []byte // the last view
	saidAt  time.Time
}

// New returns a page of namespaces; of none: of all. It knows nothing until it is run.
func New(config *rest.Config, namespaces []string) (*Page, error) {
	api, err := connect(config)
	if err != nil {
		return nil, err
	}
	asking, err := labels.Parse(inbox.Candidates)
	if err != nil {
		return nil, err
	}
	p := &Page{api: api, namespaces: namespaces, now: time.Now, verdicts: map[types.NamespacedName]verdict{}}
	for _, namespace := range within(namespaces) {
		p.follow(namespace, asking)
	}
	return p, nil
}

// within returns the namespaces to ask for: the empty one stands for all.
func within(namespaces []string) []string {
	if len(namespaces) == 0 {
		return []string{""}
	}
	return namespaces
}

func (p *Page) follow(namespace string, asking labels.Selector) {
	submissions, records := newSubmissions(p.now), newRecords()
	p.submissions, p.records = append(p.submissions, submissions), append(p.records, records)
	p.sources = append(p.sources,
		&source{
			api: p.api, kind: &v1alpha1.TaskSubmission{}, list: func() client.ObjectList { return &v1alpha1.TaskSubmissionList{} },
			namespace: namespace, store: submissions, contact: &contact{now: p.now}, turn: &p.reading,
		},
		&source{
			api: p.api, kind: &v1alpha1.TaskRecord{}, list: func() client.ObjectList { return &v1alpha1.TaskRecordList{} },
			namespace: namespace, selector: asking, store: records, contact: &contact{now: p.now}, turn: &p.reading,
		})
}

// connect returns a client that knows the kinds, so that nothing has to be discovered.
func connect(config *rest.Config) (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []string{"TaskSubmission", "TaskRecord", "TaskTemplate"} {
		mapper.Add(v1alpha1.GroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	return client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper})
}

// Run keeps what is known up to date until ctx ends. What goes wrong is shown on the page, and tried again.
func (p *Page) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, source := range p.sources {
		group.Go(func() error {
			source.run(ctx)
			return nil
		})
	}
	group.Go(func() error {
		wait.UntilWithContext(ctx, p.look, pause)
		return nil
	})
	return group.Wait()
}

// living returns what has not finished.
func (p *Page) living() []Row {
	var rows []Row
	for _, s := range p.submissions {
		s.mu.Lock()
		rows = slices.AppendSeq(rows, maps.Values(s.living))
		s.mu.Unlock()
	}
	return rows
}

// known gathers what a view is made of.
func (p *Page) known(now time.Time) known {
	k := known{rows: p.living(), namespaces: p.namespaces, standing: stand(p.sources, now)}
	for i, s := range p.submissions {
		s.mu.Lock()
		merge(&k.hour, s.history.within(now))
		k.last = append(k.last, s.history.latest(now)...)
		s.mu.Unlock()
		k.abandoned = append(k.abandoned, p.records[i].rows()...)
	}
	slices.SortStableFunc(k.last, func(a, b Row) int { return b.Ended.Compare(a.Ended) })
	k.last = k.last[:min(len(k.last), kept)]
	p.mu.Lock()
	k.verdicts = maps.Clone(p.verdicts)
	p.mu.Unlock()
	return k
}
