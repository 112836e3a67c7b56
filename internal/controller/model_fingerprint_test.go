package controller

import (
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// fingerprint names a state: two worlds with one fingerprint go on in the same ways. Two different worlds have one with
// a probability of about states² / 2¹²⁸.
type fingerprint [2]uint64

var hashSeed = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func hashOf(text []byte) fingerprint {
	return fingerprint{maphash.Bytes(hashSeed[0], text), maphash.Bytes(hashSeed[1], text)}
}

// line writes the parts of a state one after the other.
type line []byte

func (l *line) words(words ...string) {
	for _, word := range words {
		*l = append(append(*l, word...), ' ')
	}
}

func (l *line) numbers(numbers ...int64) {
	for _, number := range numbers {
		*l = append(strconv.AppendInt(*l, number, 10), ' ')
	}
}

func (l *line) flags(flags ...bool) {
	for _, flag := range flags {
		*l = strconv.AppendBool(*l, flag)
	}
}

func (l *line) hash(of fingerprint) { l.numbers(int64(of[0]), int64(of[1])) }

func (w *world) fingerprint() fingerprint {
	l := make(line, 0, 2048)
	l.numbers(int64(w.now))
	w.budget.describe(&l)
	for _, q := range w.requests {
		q.describe(&l)
	}
	for _, objects := range []map[string]*stored{w.objects, w.backup} {
		for _, key := range sorted(objects) {
			l.words(key)
			l.hash(objects[key].hash)
		}
		l.words("|")
	}
	for _, key := range sorted(w.lives) {
		l.words(key)
		l.numbers(int64(w.lives[key]))
	}
	l.words(sorted(w.acked)...)
	l.words("|")
	l.words(sorted(w.released)...)
	for _, key := range sorted(w.asked) {
		l.words(key)
		l.numbers(int64(w.asked[key]))
	}
	for _, p := range w.processes {
		p.describe(&l)
	}
	return hashOf(l)
}

func (b *budget) describe(l *line) {
	for _, left := range []int{
		b.Kill, b.LoseAnswer, b.LoseWrite, b.LoseReply, b.Refuse, b.CannotTell, b.Delete, b.Terminate, b.Recreate, b.Reuse, b.Edit,
		b.Withdraw, b.Backup, b.Restore, b.Forget, b.Approve, b.Cancel, b.ConfirmApplied, b.ConfirmNot, b.Retry, b.Releases,
		b.Suspend, b.Resume,
	} {
		l.numbers(int64(left))
	}
}

func (q *request) describe(l *line) {
	l.words(q.key, q.address, q.executor, string(q.record))
	l.numbers(int64(q.attempt), int64(q.state), int64(q.lapses), int64(q.at))
	l.flags(q.forgotten)
}

func (p *process) describe(l *line) {
	l.words("|")
	l.numbers(int64(p.start))
	for _, key := range sorted(p.cache) {
		l.words(key, string(p.cache[key].object.GetUID()), p.cache[key].object.GetResourceVersion())
	}
	l.words(sorted(p.heard)...)
	p.describeMemory(l)
	flights := p.submissions.flights.(*modelFlights).all
	for _, action := range sortedNames(flights) {
		flights[action].describe(l)
	}
	if p.pass != nil {
		p.pass.describe(l)
	}
}

func (p *process) describeMemory(l *line) {
	actions := p.submissions.memory.actions
	for _, action := range sortedNames(actions) {
		entry := actions[action]
		l.words("m", action.Name, versionOf(entry.record), versionOf(entry.last), string(entry.ended))
		if sight := entry.sight; sight != nil {
			l.words(string(sight.uid), sight.version)
			l.numbers(int64(sight.attempt), sight.since.Unix())
		}
		if written := entry.written; written != nil && p.isNews(action, written) {
			l.words(string(written.UID), written.ResourceVersion)
		}
	}
}

// isNews reports whether what a process wrote is not in its cache yet: only then does it matter that it remembers it.
func (p *process) isNews(action types.NamespacedName, written *v1alpha1.TaskSubmission) bool {
	known := p.cache["submission/"+action.Name]
	return known != nil && known.object.GetUID() == written.UID && known.object.GetResourceVersion() != written.ResourceVersion
}

func (f *modelFlight) describe(l *line) {
	l.words("f", f.ticket.Action.Name, f.address, f.digest, string(f.record), string(f.report.Outcome), f.report.ResultDigest, f.report.Message)
	l.numbers(int64(f.ticket.Kind), int64(f.ticket.Attempt), int64(f.state), f.started.Unix(), f.deadline.Unix(), int64(f.request))
	l.flags(f.report.Permanent)
}

func (s *subject) describe(l *line) {
	l.words("pass", s.action.Name, versionOf(s.record.Object), versionOf(s.claim.Object), versionOf(s.claim.Holder), s.template.Digest)
	l.flags(s.flight != nil, s.record.Read, s.record.Last != nil, s.claim.Read, s.plan != nil)
	if s.problem != nil {
		l.words(string(s.problem.Reason))
	}
	if s.submission != nil {
		l.words(string(s.submission.UID), s.submission.ResourceVersion)
	}
	for i := range s.decisions {
		l.words(s.decisions[i].Name)
	}
}

func versionOf(record *v1alpha1.TaskRecord) string {
	if record == nil {
		return "-"
	}
	return string(record.UID) + "/" + record.ResourceVersion
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func sortedNames[V any](m map[types.NamespacedName]V) []types.NamespacedName {
	keys := make([]types.NamespacedName, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b types.NamespacedName) int { return strings.Compare(a.Name, b.Name) })
	return keys
}
