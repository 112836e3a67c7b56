package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

//go:embed templates.yaml
var templates string

// how many of each template's submissions are created first.
var many = map[string]int{
	"award": 12, "book": 3, "slow": 6, "busy": 3, "refuse": 4, "charge": 4, "letter": 5, "repeat": 2, "refund": 3, "hold": 5,
}

// rivals is how many clients create each of the race's submissions at the same moment.
const races, rivals = 5, 4

// applyTemplates creates the templates and waits until each is judged.
func (w *world) applyTemplates(ctx context.Context) error {
	specs := map[string]map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(strings.ReplaceAll(templates, "http://RECEIVER", "http://"+w.receiver)), &specs); err != nil {
		return err
	}
	w.templates = len(specs)
	for name, spec := range specs {
		template := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "taskonce.dev/v1alpha1", "kind": "TaskTemplate", "spec": spec}}
		template.SetNamespace(w.namespace)
		template.SetName(name)
		if err := w.api.Create(ctx, template); err != nil {
			return fmt.Errorf("the template %s: %w", name, err)
		}
	}
	return until(ctx, "the operator to judge the templates", func(ctx context.Context) (bool, error) {
		list := &v1alpha1.TaskTemplateList{}
		err := w.api.List(ctx, list, client.InNamespace(w.namespace))
		ready := 0
		for i := range list.Items {
			if meta.IsStatusConditionTrue(list.Items[i].Status.Conditions, v1alpha1.ConditionReady) {
				ready++
			}
		}
		return ready == len(specs), err
	})
}

// countRefusals has the API server begin to count duplicates before it is scraped: it shows no zero.
func (w *world) countRefusals(ctx context.Context) error {
	first := &v1alpha1.TaskSubmission{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "before-the-operator"}}
	first.Spec.TemplateRef.Name = "none"
	again := first.DeepCopy()
	if err := w.api.Create(ctx, first); err != nil {
		return err
	}
	if err := w.api.Create(ctx, again); !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("a second create is answered with %w", err)
	}
	return w.api.Delete(ctx, first)
}

// create sends one create, and notes what came of it.
func (w *world) create(ctx context.Context, s sent, order string) error {
	submission := &v1alpha1.TaskSubmission{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: s.key}}
	submission.Spec.TemplateRef.Name = s.template
	submission.Spec.Parameters = apiextensionsv1.JSON{Raw: []byte(fmt.Sprintf(`{"order": %q}`, order))}
	s.at = time.Now()
	return w.history.take(s, w.api.Create(ctx, submission))
}

// key is the i-th of a template. It is the action's name, and its order.
func key(template string, i int) string { return fmt.Sprintf("%s-no-%d", template, i) }

// load plays the whole of it.
func (w *world) load(ctx context.Context) error {
	for template, n := range many {
		for i := range n {
			if err := w.create(ctx, sent{template: template, key: key(template, i)}, key(template, i)); err != nil {
				return err
			}
		}
	}
	if err := w.rest(ctx); err != nil {
		return err
	}
	if err := w.decide(ctx); err != nil {
		return err
	}
	if err := w.rest(ctx); err != nil {
		return err
	}
	if err := errors.Join(w.retry(ctx), w.actTwice(ctx), w.misuse(ctx), w.recreate(ctx)); err != nil {
		return err
	}
	if err := w.race(ctx); err != nil {
		return err
	}
	return w.rest(ctx)
}

// retry sends what is there already, as clients do that had no answer: one after another.
func (w *world) retry(ctx context.Context) error {
	executing, err := w.executing(ctx)
	if err != nil {
		return err
	}
	for _, d := range []struct {
		found string
		keys  []string
		times int
	}{
		{"success", keys("award", 6), 2}, {"failed", keys("refuse", 4), 1}, {"processing", executing, 2}, {"pending", keys("refund", 2), 1},
	} {
		for _, name := range d.keys {
			template, _, _ := strings.Cut(name, "-")
			for range d.times {
				if err := w.create(ctx, sent{template: template, key: name, found: d.found}, name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func keys(template string, n int) (all []string) {
	for i := range n {
		all = append(all, key(template, i))
	}
	return all
}

// executing returns those that the receiver holds.
func (w *world) executing(ctx context.Context) (names []string, err error) {
	submissions, err := w.submissions(ctx)
	for i := range submissions {
		if submissions[i].Status.Reason == v1alpha1.ReasonExecuting {
			names = append(names, submissions[i].Name)
		}
	}
	return names, err
}

// actTwice acts on the same orders under other keys.
func (w *world) actTwice(ctx context.Context) error {
	for i := range 3 {
		for _, template := range []string{"award", "book"} {
			if err := w.create(ctx, sent{template: template, key: key(template, 100+i)}, key(template, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// misuse uses keys for another action.
func (w *world) misuse(ctx context.Context) error {
	for i := range 3 {
		if err := w.create(ctx, sent{template: "busy", key: key("busy", i), found: "mismatch"}, "another"); err != nil {
			return err
		}
	}
	return nil
}

// recreate deletes a submission that has finished, and applies it again.
func (w *world) recreate(ctx context.Context) error {
	name := key("book", 0)
	gone := &v1alpha1.TaskSubmission{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
	if err := w.api.Delete(ctx, gone); err != nil {
		return err
	}
	if err := until(ctx, name+" to be gone", func(ctx context.Context) (bool, error) {
		err := w.api.Get(ctx, client.ObjectKeyFromObject(gone), &v1alpha1.TaskSubmission{})
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	}); err != nil {
		return err
	}
	return w.create(ctx, sent{template: "book", key: name, found: "success", again: true}, name)
}

// race has several clients create the same at the same moment.
func (w *world) race(ctx context.Context) error {
	var clients errgroup.Group
	for range rivals {
		clients.Go(func() error {
			for i := range races {
				if err := w.create(ctx, sent{template: "race", key: key("race", i)}, "any"); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return clients.Wait()
}

// decide has a person find out what became of two letters, and approve a refund.
func (w *world) decide(ctx context.Context) error {
	for _, d := range []struct {
		key    string
		action v1alpha1.DecisionAction
	}{
		{key("letter", 0), v1alpha1.DecisionConfirmApplied}, {key("letter", 1), v1alpha1.DecisionConfirmNotApplied}, {key("refund", 2), v1alpha1.DecisionApprove},
	} {
		if err := w.decideOn(ctx, d.key, d.action); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) decideOn(ctx context.Context, name string, action v1alpha1.DecisionAction) error {
	submission, record := &v1alpha1.TaskSubmission{}, &v1alpha1.TaskRecord{}
	if err := w.api.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, submission); err != nil {
		return err
	}
	decision := &v1alpha1.TaskDecision{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "about-" + name}}
	decision.Spec = v1alpha1.TaskDecisionSpec{Submission: name, UID: submission.UID, Attempt: submission.Status.Attempts, Action: action, Reason: "Somebody looked."}
	if decision.Spec.Attempt > 0 {
		if err := w.api.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: v1alpha1.RecordName(name)}, record); err != nil {
			return err
		}
		decision.Spec.UID = record.UID
	}
	if err := w.api.Create(ctx, decision); err != nil {
		return err
	}
	w.history.decisions = append(w.history.decisions, decision.Spec)
	return until(ctx, "the decision about "+name, func(ctx context.Context) (bool, error) {
		err := w.api.Get(ctx, client.ObjectKeyFromObject(decision), decision)
		return decision.Status.State == v1alpha1.DecisionApplied, err
	})
}
