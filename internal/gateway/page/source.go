package page

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

// store is what a source fills: by a list, page by page, and then by each change.
type store interface {
	cache.ReflectorStore
	begin()
	keep(page client.ObjectList)
}

// source keeps a store as the API server has it.
type source struct {
	api       client.WithWatch
	kind      client.Object
	list      func() client.ObjectList
	namespace string
	selector  labels.Selector
	store     store
	contact   *contact
	turn      *sync.Mutex // to hold a page in memory
}

// pageSize bounds what one request of a list holds in memory: a submission, or a record, may have a MiB of parameters, and the
// front door is in the same process.
const pageSize = 25

// pageTimeout is how long the others wait for the one that reads.
const pageTimeout = 30 * time.Second

// run reads and watches until ctx ends, whatever goes wrong.
func (s *source) run(ctx context.Context) {
	backoff := &wait.Backoff{Duration: 500 * time.Millisecond, Cap: 5 * time.Second, Steps: 10, Factor: 2, Jitter: 0.5}
	reflector := cache.NewReflectorWithOptions(paging{&cache.ListWatch{ListWithContextFunc: s.read, WatchFuncWithContext: s.watch}},
		s.kind, s.store, cache.ReflectorOptions{Name: "page", Backoff: backoff})
	reflector.RunWithContext(logf.IntoContext(ctx, logf.Log.WithName("page")))
}

// paging is a list that is read in pages: streamed, as the reflector would have it, all of it would be held at once.
type paging struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported is what the reflector asks.
func (paging) IsWatchListSemanticsUnSupported() bool { return true }

// read hands a list to the store, and returns one without items, which says where the watch begins.
func (s *source) read(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
	s.store.begin()
	for next, began := "", ""; ; {
		version, more, err := s.readPage(ctx, next)
		if err != nil {
			s.contact.lost(err)
			return nil, err
		}
		if began == "" {
			began = version
		}
		if next = more; next == "" {
			all := s.list()
			all.SetResourceVersion(began)
			return all, nil
		}
	}
}

// readPage hands one page to the store, and returns its version and where the next one begins. One is held at a time, however
// many namespaces there are.
func (s *source) readPage(ctx context.Context, from string) (version, next string, err error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	page := s.list() // its own: what is decoded into a page that was used mixes with what it held
	err = s.api.List(ctx, page, &client.ListOptions{Namespace: s.namespace, LabelSelector: s.selector, Limit: pageSize, Continue: from})
	if err != nil {
		return "", "", err
	}
	s.store.keep(page)
	return page.GetResourceVersion(), page.GetContinue(), nil
}

func (s *source) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	changes, err := s.api.Watch(ctx, s.list(), &client.ListOptions{Namespace: s.namespace, LabelSelector: s.selector, Raw: &options})
	if err != nil {
		s.contact.lost(err)
		return nil, err
	}
	s.contact.made()
	return watching{changes, s.contact}, nil
}

// watching notes when a watch has ended: the reflector stops each that has.
type watching struct {
	watch.Interface
	contact *contact
}

// Stop implements watch.Interface.
func (w watching) Stop() {
	w.Interface.Stop()
	w.contact.lost(nil)
}
