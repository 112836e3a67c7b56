package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

const (
	// window is how many of the newest keys of an action clients use: they meet at them.
	window = 4
	// pace is how often there is a new key.
	pace = 2 * time.Second
	// badPayload stands for parameters that the schema refuses.
	badPayload = -1
)

// asker is one client: it submits, waits, reads, deletes and re-creates.
type asker struct {
	w         *world
	number    int
	random    *rand.Rand
	decisions int // that it made
}

// asker returns the client of a number.
func (w *world) asker(number int) *asker {
	return &asker{w: w, number: number, random: draw(w.options.Seed, fmt.Sprintf("client %d", number))}
}

// ask runs the clients, and one who answers for unknown outcomes, until ctx ends.
func (w *world) ask(ctx context.Context) {
	begun := time.Now()
	var work sync.WaitGroup
	for i := range w.options.Clients {
		a := w.asker(i)
		work.Go(func() {
			for ctx.Err() == nil {
				newest := int(time.Since(begun) / pace)
				a.once(ctx, keyOf(actions[a.random.IntN(len(actions))], newest+a.random.IntN(window)))
				pass(ctx, time.Duration(a.random.IntN(60))*time.Millisecond)
			}
		})
	}
	work.Go(func() { w.asker(w.options.Clients).audit(ctx) })
	work.Wait()
}

func (a *asker) once(ctx context.Context, key string) {
	switch n := a.random.IntN(100); {
	case n < 8:
		if a.submit(ctx, key, a.payload()) {
			a.react(ctx, key, a.read(ctx, key)) // cancelled while it begins
		}
	case n < 45:
		if a.submit(ctx, key, a.payload()) {
			a.wait(ctx, key)
		}
	case n < 55:
		a.read(ctx, key)
	case n < 70:
		a.react(ctx, key, a.read(ctx, key))
	case n < 80:
		a.remove(ctx, key)
	default:
		payload := a.payload()
		a.remove(ctx, key)
		a.submit(ctx, key, payload)
		a.wait(ctx, key)
	}
}

// payload is mostly the first client's: a few are another action under the same key, or no action at all.
func (a *asker) payload() int {
	switch n := a.random.IntN(100); {
	case n < 3:
		return badPayload
	case n < 12:
		return 1
	default:
		return 0
	}
}

// submit reports whether there is a submission of the key now.
func (a *asker) submit(ctx context.Context, key string, payload int) bool {
	return a.w.history.record(a.number, operation{key: key, kind: opSubmit, payload: payload}, func(seen *observation) {
		s := submissionOf(a.w.namespace, key, payload)
		if a.w.held(key) {
			s.Finalizers = []string{finalizer}
		}
		err := a.w.api.Create(ctx, s)
		a.w.tally.add("submissions asked for", 1)
		switch {
		case err == nil:
			a.w.tally.add("submissions created", 1)
			seen.certain, seen.done = true, true
		case apierrors.IsAlreadyExists(err):
			seen.certain = true
		default:
			seen.lost(err)
		}
	}).certain
}

func (a *asker) read(ctx context.Context, key string) observation {
	return a.w.history.record(a.number, operation{key: key, kind: opRead}, func(seen *observation) {
		s := &v1alpha1.TaskSubmission{}
		err := a.w.api.Get(ctx, client.ObjectKey{Namespace: a.w.namespace, Name: key}, s)
		switch {
		case err == nil:
			seen.certain, seen.done = true, true
			seen.see(s)
		case apierrors.IsNotFound(err):
			seen.certain = true
		}
	})
}

// wait reads until the submission has come to its end, or for a while, and returns what was read last.
func (a *asker) wait(ctx context.Context, key string) (seen observation) {
	for range 15 {
		seen = a.read(ctx, key)
		if !seen.certain || !seen.done || seen.phase.Terminal() || ctx.Err() != nil {
			break
		}
		if awaitsApproval(key, seen.message) {
			a.react(ctx, key, seen)
		}
		pass(ctx, glance)
	}
	return seen
}

// submissionOf is the one that stands for a key. The payload is another's where it is not 0.
func submissionOf(namespace, key string, payload int) *v1alpha1.TaskSubmission {
	var n int
	_, _ = fmt.Sscanf(key[len(key)-5:], "%d", &n)
	return &v1alpha1.TaskSubmission{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: key},
		Spec: v1alpha1.TaskSubmissionSpec{
			TemplateRef: v1alpha1.TemplateRef{Name: actionOf(key).name},
			Parameters:  apiextensionsv1.JSON{Raw: fmt.Appendf(nil, `{"item": %d, "payload": %d}`, n, payload)},
		},
	}
}

// payloadOf tells which payload of a key has a digest.
func payloadOf(key, digest string) int {
	for _, payload := range []int{0, 1, badPayload} {
		if mine, _ := v1alpha1.PayloadDigest(&submissionOf("", key, payload).Spec); mine == digest {
			return payload
		}
	}
	return badPayload - 1
}
