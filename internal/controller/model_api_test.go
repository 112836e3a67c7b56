package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

// stored is an object as the model's API server holds it; it is never changed.
type stored struct {
	object  client.Object
	hash    fingerprint
	payload string // of a submission: its digest
}

// apiFault is what goes wrong with the next write of a process.
type apiFault int

const (
	noFault    apiFault = iota
	answerLost          // it lands, and the process is told of an error
	writeLost           // it does not land, and the process is told of an error
)

var errLost = errors.New("the API server did not answer")

// modelClient is one process's access to the model's API server. What goes through it is what goes through the real one.
type modelClient struct {
	client.Client
	world   *world
	process *process
	live    bool
}

func kindOf(object client.Object) string {
	switch object.(type) {
	case *v1alpha1.TaskSubmission:
		return "submission"
	case *v1alpha1.TaskTemplate:
		return "template"
	case *v1alpha1.TaskRecord:
		return "record"
	default:
		return "decision"
	}
}

func keyOf(object client.Object) string { return kindOf(object) + "/" + object.GetName() }

func resource(object client.Object) schema.GroupResource {
	return schema.GroupResource{Group: v1alpha1.GroupVersion.Group, Resource: "task" + kindOf(object) + "s"}
}

// put stores an object as the next version of its name. UIDs and versions are counted by name, so that the order in
// which different objects were written makes no different state.
func (w *world) put(object client.Object) client.Object {
	key := keyOf(object)
	if old := w.objects[key]; old == nil {
		w.lives[key]++
		object.SetUID(types.UID(fmt.Sprintf("%s#%d", key, w.lives[key])))
		object.SetResourceVersion("1")
		object.SetCreationTimestamp(metav1.NewTime(modelEpoch.Add(w.now)))
	} else {
		version, _ := strconv.Atoi(old.object.GetResourceVersion())
		object.SetResourceVersion(strconv.Itoa(version + 1))
	}
	object.SetNamespace(modelNamespace)
	text, _ := json.Marshal(object)
	kept := &stored{object: object, hash: hashOf(text)}
	if submission, ok := object.(*v1alpha1.TaskSubmission); ok {
		kept.payload, _ = v1alpha1.PayloadDigest(&submission.Spec)
	}
	w.objects[key] = kept
	return object
}

func (c *modelClient) Get(_ context.Context, name types.NamespacedName, into client.Object, _ ...client.GetOption) error {
	found := c.seen(into)[kindOf(into)+"/"+name.Name]
	if kindOf(into) == "template" {
		c.usePlans(found)
	}
	if found == nil {
		return apierrors.NewNotFound(resource(into), name.Name)
	}
	assign(into, found.object)
	return nil
}

// seen is where a client reads from.
func (c *modelClient) seen(what client.Object) map[string]*stored {
	if c.live && (kindOf(what) != "submission" || !c.world.scenario.asksTheCache) {
		return c.world.objects
	}
	return c.process.cache
}

// usePlans gives the process the plans of the generation that it reads.
func (c *modelClient) usePlans(template *stored) {
	c.process.submissions.Plans = NewPlans(effect.Compilers{}) // for a template that is gone there is nothing to keep
	if template != nil {
		c.process.submissions.Plans = c.world.scenario.plansOf(template.object.GetGeneration())
	}
}

// assign copies the outer struct: nobody changes what they read, which the real cache asks for too.
func assign(into, from client.Object) {
	switch into := into.(type) {
	case *v1alpha1.TaskSubmission:
		*into = *from.(*v1alpha1.TaskSubmission)
	case *v1alpha1.TaskTemplate:
		*into = *from.(*v1alpha1.TaskTemplate)
	case *v1alpha1.TaskRecord:
		*into = *from.(*v1alpha1.TaskRecord)
	case *v1alpha1.TaskDecision:
		*into = *from.(*v1alpha1.TaskDecision)
	}
}

// List is called for the decisions about one submission, and for the records of one.
func (c *modelClient) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	wanted := (&client.ListOptions{}).ApplyOptions(options)
	switch into := into.(type) {
	case *v1alpha1.TaskDecisionList:
		about, _ := wanted.FieldSelector.RequiresExactMatch(indexSubmission)
		seen := c.seen(&v1alpha1.TaskDecision{})
		for _, key := range sorted(seen) {
			if decision, ok := seen[key].object.(*v1alpha1.TaskDecision); ok && decision.Spec.Submission == about {
				into.Items = append(into.Items, *decision)
			}
		}
	case *v1alpha1.TaskRecordList:
		for _, key := range sorted(c.world.objects) {
			if r, ok := c.world.objects[key].object.(*v1alpha1.TaskRecord); ok && wanted.LabelSelector.Matches(labels.Set(r.Labels)) {
				into.Items = append(into.Items, *r)
			}
		}
	}
	return nil
}

// write lets a write land, or not, as the process's fault has it.
func (c *modelClient) write(object client.Object, land func() error) error {
	fault := c.process.fault
	c.process.fault = noFault
	if fault == writeLost {
		if c.world.scenario.trustsLostWrites {
			return nil
		}
		return errLost
	}
	if err := land(); err != nil {
		return err
	}
	if fault == answerLost {
		return errLost
	}
	c.world.acknowledge(object)
	return nil
}

func (c *modelClient) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	return c.write(object, func() error {
		if c.world.objects[keyOf(object)] != nil {
			return apierrors.NewAlreadyExists(resource(object), object.GetName())
		}
		c.store(object)
		return nil
	})
}

func (c *modelClient) Update(_ context.Context, object client.Object, _ ...client.UpdateOption) error {
	return c.write(object, func() error {
		old := c.world.objects[keyOf(object)]
		if old == nil {
			return apierrors.NewNotFound(resource(object), object.GetName())
		}
		same := old.object.GetResourceVersion() == object.GetResourceVersion() && old.object.GetUID() == object.GetUID()
		if checked := kindOf(object) != "record" || !c.world.scenario.noCompareAndSwap; checked && !same {
			return apierrors.NewConflict(resource(object), object.GetName(), errors.New("it was changed"))
		}
		object.SetUID(old.object.GetUID())
		if c.refuses(object) {
			return apierrors.NewRequestEntityTooLargeError("the result is too large")
		}
		c.world.checkTransition(old.object, object)
		c.store(object)
		return nil
	})
}

// refuses reports whether the API server does not take an object. A store that gives up does not get to a second try.
func (c *modelClient) refuses(object client.Object) bool {
	r, ok := object.(*v1alpha1.TaskRecord)
	if !ok || !c.world.scenario.smallRecords || r.Spec.Action == nil {
		return false
	}
	refused := r.Spec.Action.Result != nil || c.process.refused
	c.process.refused = refused && c.world.scenario.givesUp
	return refused
}

// store keeps a copy and gives the caller its own, with the new version.
func (c *modelClient) store(object client.Object) {
	copied := object.DeepCopyObject().(client.Object)
	if r, ok := copied.(*v1alpha1.TaskRecord); ok && c.world.scenario.dropsDue {
		delete(r.Labels, v1alpha1.LabelDue)
	}
	kept := c.world.put(copied)
	object.SetUID(kept.GetUID())
	object.SetResourceVersion(kept.GetResourceVersion())
	object.SetNamespace(modelNamespace)
	object.SetCreationTimestamp(kept.GetCreationTimestamp())
}

// acknowledge remembers which begins a process was told of.
func (w *world) acknowledge(object client.Object) {
	if r, ok := object.(*v1alpha1.TaskRecord); ok && r.Spec.Action != nil && r.Spec.Action.Attempt.Open() {
		w.acked[beginName(r.UID, r.Spec.Action.Attempt.Number, r.Spec.Action.Attempt.Executor)] = true
	}
}

func beginName(record types.UID, attempt int32, executor string) string {
	return fmt.Sprintf("%s/%d/%s", record, attempt, executor)
}

func (c *modelClient) Delete(_ context.Context, object client.Object, options ...client.DeleteOption) error {
	return c.write(object, func() error {
		old := c.world.objects[keyOf(object)]
		if old == nil {
			return apierrors.NewNotFound(resource(object), object.GetName())
		}
		applied := (&client.DeleteOptions{}).ApplyOptions(options)
		if p := applied.Preconditions; p != nil && !c.world.scenario.noPreconditions {
			if (p.UID != nil && *p.UID != old.object.GetUID()) || (p.ResourceVersion != nil && *p.ResourceVersion != old.object.GetResourceVersion()) {
				return apierrors.NewConflict(resource(object), object.GetName(), errors.New("it was changed"))
			}
		}
		c.world.checkRemoval(c.process, old.object)
		delete(c.world.objects, keyOf(object))
		return nil
	})
}

func (c *modelClient) Status() client.SubResourceWriter { return modelStatus{client: c} }

type modelStatus struct {
	client.SubResourceWriter
	client *modelClient
}

// Update changes the status and nothing else.
func (s modelStatus) Update(ctx context.Context, object client.Object, _ ...client.SubResourceUpdateOption) error {
	if decision, ok := object.(*v1alpha1.TaskDecision); ok {
		if old := s.client.world.objects[keyOf(object)]; old != nil {
			decision.Spec = old.object.(*v1alpha1.TaskDecision).Spec
		}
	}
	return s.client.Update(ctx, object)
}
