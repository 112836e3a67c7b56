package controller

import (
	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// checkBegin checks the moment at which an attempt is stored, against what the process knows and what was asked for.
func (w *world) checkBegin(p *process, begin lifecycle.Begin) {
	name, s := p.pass.action.Name, p.pass.submission
	if s == nil || s.DeletionTimestamp != nil {
		w.violate("deletion: an attempt of %s begins, and it is known that it is being deleted", name)
	}
	if w.now < w.scenario.notBefore {
		w.violate("notBefore: an attempt of %s begins before its time", name)
	}
	if end := w.scenario.notAfter; end > 0 && w.now >= end && !w.hasBegun(p, begin) {
		w.violate("notAfter: %s begins, and its time is over", name)
	}
	if spec := p.pass.template.Spec; spec != nil && spec.Suspend && !w.hasBegun(p, begin) {
		w.violate("suspension: %s begins, and it is known that its template is suspended", name)
	}
}

// hasBegun reports whether an attempt is a later one, of what did not only wait for its business key so far.
func (w *world) hasBegun(p *process, begin lifecycle.Begin) bool {
	r := p.pass.record.Object
	if r == nil {
		return false
	}
	action := r.Spec.Action
	return action.Tries > 0 || begin.Action.Attempt.Number > 1 && action.Reason != v1alpha1.ReasonBusinessKeyHeld
}

// checkTooLate checks that nothing is called too late before it is.
func (w *world) checkTooLate(name string, reason v1alpha1.Reason) {
	if reason == v1alpha1.ReasonTooLate && w.now < w.scenario.notAfter {
		w.violate("notAfter: %s is called too late, and its time is not over", name)
	}
}

func (w *world) suspended() bool {
	template := w.templateOf()
	return template != nil && template.Spec.Suspend
}

// heldBack reports whether an action waits, as it says, for the end of a suspension, which no notAfter comes before.
func (w *world) heldBack(s *v1alpha1.TaskSubmission) bool {
	return w.suspended() && s.Status.Reason == v1alpha1.ReasonTemplateSuspended && w.scenario.notAfter == 0
}

// suspensionMoves are what a platform team may do to what has not begun.
func (w *world) suspensionMoves(add func(move)) {
	suspend := func(left int, spend func(*world), to bool, text string) {
		if left == 0 || w.templateOf() == nil || w.suspended() == to {
			return
		}
		add(func(w *world) {
			spend(w)
			template := w.templateOf().DeepCopy()
			template.Spec.Suspend = to
			template.Generation++
			w.put(template)
			w.tell("somebody %s the template", text)
		})
	}
	suspend(w.budget.Suspend, func(w *world) { w.budget.Suspend-- }, true, "suspends")
	suspend(w.budget.Resume, func(w *world) { w.budget.Resume-- }, false, "resumes")
}
