package page

import (
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/inbox"
)

// records are those that ask for a person, should their submission be gone, by their own names. They are a store of
// client-go's reflector.
type records struct {
	mu     sync.Mutex
	asking map[types.NamespacedName]Row
	read   map[types.NamespacedName]Row
}

func newRecords() *records { return &records{asking: map[types.NamespacedName]Row{}} }

func (r *records) begin() { r.read = map[types.NamespacedName]Row{} }

func (r *records) keep(page client.ObjectList) {
	list := page.(*v1alpha1.TaskRecordList)
	for i := range list.Items {
		note(r.read, &list.Items[i])
	}
}

func note(into map[types.NamespacedName]Row, record *v1alpha1.TaskRecord) {
	if inbox.Abandoned(record) {
		into[client.ObjectKeyFromObject(record)] = abandonedRow(record)
	} else {
		delete(into, client.ObjectKeyFromObject(record))
	}
}

// Replace implements cache.ReflectorStore, with what begin and keep have taken in.
func (r *records) Replace([]any, string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asking, r.read = r.read, nil
	return nil
}

// Add implements cache.ReflectorStore.
func (r *records) Add(object any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	note(r.asking, object.(*v1alpha1.TaskRecord))
	return nil
}

// Update implements cache.ReflectorStore.
func (r *records) Update(object any) error { return r.Add(object) }

// Delete implements cache.ReflectorStore.
func (r *records) Delete(object any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.asking, client.ObjectKeyFromObject(object.(*v1alpha1.TaskRecord)))
	return nil
}

// Resync implements cache.ReflectorStore.
func (r *records) Resync() error { return nil }

func (r *records) rows() []Row {
	r.mu.Lock()
	defer r.mu.Unlock()
	rows := make([]Row, 0, len(r.asking))
	for row := range maps.Values(r.asking) {
		rows = append(rows, row)
	}
	return rows
}
