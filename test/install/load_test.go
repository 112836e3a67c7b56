package install_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// underLoad submits all the time while something is done, and looks whether each submission had its effect, once.
func (w *world) underLoad(what string, do func()) {
	w.Helper()
	w.whileClientsWork(what, do, func(string, *v1alpha1.TaskSubmission) {})
}

// underLoadWithWebhooks also writes templates and decisions all the time, and looks whether the webhooks were there for each:
// a submission that they have not seen is taken without its submitter, which nobody can add later. A process that closes a
// connection at the moment at which a call is sent on it loses this one, and no more.
func (w *world) underLoadWithWebhooks(what string, do func()) {
	w.Helper()
	var missed []string
	stopped := w.node.stopped.Load()
	w.whileClientsWork(what, do, func(namespace string, submitted *v1alpha1.TaskSubmission) {
		if submitted.Annotations[v1alpha1.AnnotationSubmittedBy] == "" {
			missed = append(missed, submitted.Name+" has no submitter")
		}
		for _, object := range []client.Object{aTemplate(namespace), aDecision(namespace)} {
			if err := w.client.Create(w.Context(), object, client.DryRunAll); err != nil {
				missed = append(missed, err.Error())
			}
		}
	})
	if gone := int(w.node.stopped.Load() - stopped); gone < 2 || len(missed) > gone {
		w.Errorf("%s: %d replicas ended, and the webhooks were missed %d times: %q", what, gone, len(missed), missed)
	}
}

// whileClientsWork submits all the time while something is done, and has each submission looked at as it was taken.
func (w *world) whileClientsWork(what string, do func(), look func(namespace string, submitted *v1alpha1.TaskSubmission)) {
	w.Helper()
	namespace := w.newNamespace()
	w.install(namespace)
	ctx, stop := context.WithCancel(w.Context())
	var names []string
	var clients sync.WaitGroup
	defer clients.Wait() // also where what is done fails
	defer stop()
	clients.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			submitted := plain(namespace, fmt.Sprintf("load-%d", i))
			if err := w.client.Create(w.Context(), submitted); err != nil {
				w.Errorf("%s: %s was refused: %v", what, submitted.Name, err)
				return
			}
			look(namespace, submitted)
			names = append(names, submitted.Name)
			time.Sleep(20 * time.Millisecond) // the clients' pace
		}
	})
	do()
	stop()
	clients.Wait()
	for _, name := range names {
		w.reaches(namespace, name, v1alpha1.ReasonApplied)
	}
	w.once(namespace, names...)
	w.Logf("%s: %d submissions meanwhile, each applied once", what, len(names))
}

// aTemplate is one that is right.
func aTemplate(namespace string) *v1alpha1.TaskTemplate {
	template := &v1alpha1.TaskTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "written-meanwhile"}}
	template.Spec.Effect.HTTP = &v1alpha1.HTTPEffect{HTTPRequest: v1alpha1.HTTPRequest{URL: "http://receiver.example/"}}
	return template
}

// aDecision is one that can be written, whatever it may come to.
func aDecision(namespace string) *v1alpha1.TaskDecision {
	decision := &v1alpha1.TaskDecision{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "written-meanwhile"}}
	decision.Spec = v1alpha1.TaskDecisionSpec{Submission: "load-0", UID: types.UID("of-nobody"), Action: v1alpha1.DecisionCancel, Reason: "the test says so"}
	return decision
}
