package controller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/clock"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
	"github.com/taskonce/taskonce/internal/plan"
)

// memory is what this process knows beyond the cache: the records of what runs here, since when an attempt has been
// where it is on this process's own clock, and which ends were written that the cache has not seen yet. Losing it
// costs time and reads, never safety; it grows with the work in hand.
type memory struct {
	clock clock.PassiveClock

	mu      sync.Mutex
	actions map[types.NamespacedName]*remembered
}

type remembered struct {
	record  *v1alpha1.TaskRecord // of the flight; nil where there is none, or where it must be read again
	last    *v1alpha1.TaskRecord // what was stored last while the flight runs
	input   *plan.Input          // of the flight's submission, as it was checked; nil where there is none
	sight   *sight
	ended   types.UID                // the submission whose end was written
	written *v1alpha1.TaskSubmission // with its status as it was written last, until the cache has seen that
	dueAt   int64                    // when the due loop looks at it again, as its record's label says; 0: it is not the due loop's
}

// sight is the first sight of an attempt. While it is open, another resource version is another sight.
type sight struct {
	uid     types.UID
	version string
	attempt int32
	since   time.Time
}

func newMemory(clock clock.PassiveClock) *memory {
	return &memory{clock: clock, actions: map[types.NamespacedName]*remembered{}}
}

func (m *memory) of(action types.NamespacedName) *remembered {
	entry := m.actions[action]
	if entry == nil {
		entry = &remembered{}
		m.actions[action] = entry
	}
	entry.dueAt = 0
	return entry
}

// handToDueLoop notes that the due loop is the next to look at an action, and when.
func (m *memory) handToDueLoop(action types.NamespacedName, due int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(action).dueAt = due
}

// isDueLoops reports whether an action was left to the due loop: what wakes it before is a slot that it waits for.
func (m *memory) isDueLoops(action types.NamespacedName) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	entry := m.actions[action]
	return entry != nil && entry.dueAt > 0
}

// dueBy returns the actions that were left to the due loop and that it looks at by a time.
func (m *memory) dueBy(at time.Time) (due []types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for action, entry := range m.actions {
		if entry.dueAt > 0 && entry.dueAt < at.Unix() {
			due = append(due, action)
		}
	}
	return due
}

// began remembers an attempt of this process from its begin on.
func (m *memory) began(action types.NamespacedName, record *v1alpha1.TaskRecord, input *plan.Input, since time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	entry := m.of(action)
	entry.record, entry.last, entry.input = record, record, input
	entry.sight = &sight{uid: record.UID, version: record.ResourceVersion, attempt: record.Spec.Action.Attempt.Number, since: since}
}

// keep remembers the record of a flight as it was stored.
func (m *memory) keep(action types.NamespacedName, record *v1alpha1.TaskRecord) {
	m.mu.Lock()
	defer m.mu.Unlock()
	entry := m.of(action)
	entry.record, entry.last = record, record
}

// recall returns the record of a flight, as far as it is certain.
func (m *memory) recall(action types.NamespacedName) lifecycle.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	entry := m.actions[action]
	if entry == nil || entry.record == nil {
		return lifecycle.Record{}
	}
	return lifecycle.Record{Read: true, Object: entry.record}
}

// input returns the input of a submission, which was checked already where an attempt of it runs.
func (m *memory) input(action types.NamespacedName, submission *v1alpha1.TaskSubmission) *plan.Input {
	m.mu.Lock()
	defer m.mu.Unlock()
	if entry := m.actions[action]; entry != nil && entry.input != nil && entry.input.IsOf(submission) {
		return entry.input
	}
	return plan.InputOf(submission)
}

// lastStored returns what was stored last while a flight runs, however uncertain that is by now.
func (m *memory) lastStored(action types.NamespacedName) *v1alpha1.TaskRecord {
	m.mu.Lock()
	defer m.mu.Unlock()
	if entry := m.actions[action]; entry != nil {
		return entry.last
	}
	return nil
}

// doubt says that the record must be read again before anything is built on it.
func (m *memory) doubt(action types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if entry := m.actions[action]; entry != nil {
		entry.record = nil
	}
}

// drop forgets the record of a flight that is over.
func (m *memory) drop(action types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if entry := m.actions[action]; entry != nil {
		entry.record, entry.last, entry.input = nil, nil, nil
	}
}

// sighted returns for how long the current attempt is known to be where it is.
func (m *memory) sighted(action types.NamespacedName, record *v1alpha1.TaskRecord) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	entry := m.of(action)
	attempt := &record.Spec.Action.Attempt
	known := entry.sight
	same := known != nil && known.uid == record.UID && known.attempt == attempt.Number
	if same && (!attempt.Open() || known.version == record.ResourceVersion) {
		return m.clock.Since(known.since)
	}
	entry.sight = &sight{uid: record.UID, version: record.ResourceVersion, attempt: attempt.Number, since: m.clock.Now()}
	return 0
}

// endWritten remembers that a submission's end was written.
func (m *memory) endWritten(action types.NamespacedName, uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(action).ended = uid
}

// reopened forgets that, where a decision opened the submission again.
func (m *memory) reopened(action types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if entry := m.actions[action]; entry != nil {
		entry.ended = ""
	}
}

func (m *memory) hasEnded(action types.NamespacedName, uid types.UID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	entry := m.actions[action]
	return entry != nil && entry.ended == uid
}

// forget drops all that is remembered of an action.
func (m *memory) forget(action types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.actions, action)
}

// wrote remembers a submission as a write of its status returned it.
func (m *memory) wrote(action types.NamespacedName, written *v1alpha1.TaskSubmission) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(action).written = written
}

// newer returns what was written last where that is newer than what was read, so that the next write of the status
// does not meet a conflict with the last one.
func (m *memory) newer(action types.NamespacedName, read *v1alpha1.TaskSubmission) *v1alpha1.TaskSubmission {
	m.mu.Lock()
	defer m.mu.Unlock()
	entry := m.actions[action]
	if entry == nil || entry.written == nil {
		return read
	}
	order, err := resourceversion.CompareResourceVersion(read.ResourceVersion, entry.written.ResourceVersion)
	if err == nil && order < 0 && read.UID == entry.written.UID {
		return entry.written.DeepCopy()
	}
	entry.written = nil
	return read
}
