package cli

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/inbox"
)

// advice is what a person can do about a submission: sentences, each with the commands that belong to it.
type advice struct {
	text     string
	commands []string
}

// advise returns what can be done, the likeliest first.
func advise(s *subject) []advice {
	reason := s.Reason()
	switch lacks := s.Lacks(); {
	case s.Left():
		return s.whenLeft()
	case lacks != "" && !s.AwaitsApproval():
		reason = lacks
	}
	switch reason {
	case v1alpha1.ReasonAwaitingApproval:
		return append([]advice{s.toApprove("Look at the parameters and at what the template does with them, then let it begin:")}, s.toCancel("Or deny it, for good:"))
	case v1alpha1.ReasonOutcomeUnknown:
		return s.toConfirm()
	case v1alpha1.ReasonTemplateNotFound:
		return []advice{{s.withoutTemplate(), []string{s.run("kubectl get tasktemplates")}}, s.toCancel("Or end it:")}
	case v1alpha1.ReasonTemplateNotReady:
		return []advice{{"Correct the field of the template that its message names:", []string{s.run("kubectl get tasktemplate " + s.TemplateName() + " -o wide")}}, s.toCancel("Or end it:")}
	case v1alpha1.ReasonTemplateSuspended:
		return []advice{{"Find out why it was suspended; then let it go on:", []string{s.run("kubectl patch tasktemplate "+s.TemplateName()) + ` --type=merge -p '{"spec":{"suspend":false}}'`}}, s.toCancel("Or end it:")}
	case v1alpha1.ReasonDependencyMissing:
		return []advice{{"Create or correct what the message names. It is looked for again by itself, and the waiting costs no attempt.", nil}, s.toCancel("Or end it:")}
	case v1alpha1.ReasonBusinessKeyHeld:
		return s.whileHeld()
	case v1alpha1.ReasonLimitReached:
		return []advice{{"Nothing has to be done: it begins when there is room. If there never is, look at what runs, and at the template's limits:", []string{s.run("kubectl get tasksubmissions --field-selector=status.phase=Processing")}}}
	case v1alpha1.ReasonNotYet:
		return []advice{{"Nothing has to be done: it begins at its notBefore.", nil}, s.toCancel("To have it not happen:")}
	case v1alpha1.ReasonAccepted, "":
		return []advice{{"Nothing has to be done. If it stays so for more than a few seconds, see whether the operator runs:", []string{"kubectl get pods -n taskonce-system"}}}
	default:
		return s.adviseBegun()
	}
}

// adviseBegun is about what was begun, or has ended.
func (s *subject) adviseBegun() []advice {
	switch phase := s.phase(); {
	case s.AwaitsApproval():
		text := "The template's effect was edited since it was approved. Look at it, then approve it again:"
		if s.NeverApproved() {
			text = "The template asks for an approval, and nobody gave one so far. Look at what it does, then let it go on:"
		}
		return []advice{s.toApprove(text), s.toCancel("Or end it:")}
	case s.Reason() == v1alpha1.ReasonRetrying:
		return []advice{{"Nothing has to be done: it is tried again by itself.", nil}, s.toCancel("To have it not happen:")}
	case phase == v1alpha1.PhaseProcessing:
		return []advice{{"Nothing has to be done: it goes on by itself. To wait for its end:", []string{s.run("kubectl taskonce wait " + s.Name.Name)}}}
	case phase == v1alpha1.PhaseSuccess:
		return s.whenDone()
	default:
		return s.whenFailed()
	}
}

func (s *subject) withoutTemplate() string {
	if s.attempt() > 0 {
		return fmt.Sprintf("Apply the template %q again; then it goes on by itself:", s.TemplateName())
	}
	return fmt.Sprintf("Apply the template %q, or delete the submission and submit it under the right template:", s.TemplateName())
}

func (s *subject) whenDone() []advice {
	all := []advice{{"It is done, for good.", []string{s.run("kubectl taskonce result " + s.Name.Name)}}}
	if decisionCalled(v1alpha1.DecisionRelease).fits(s) {
		all = append(all, advice{"Should it have to happen once more under another idempotency key, release its business key:", []string{s.decide(v1alpha1.DecisionRelease)}})
	}
	return all
}

func (s *subject) whenLeft() []advice {
	return []advice{
		{"It had no effect so far, and no further attempt begins while its submission is gone. To have it go on, apply the submission again; left alone, its record is removed in the end.", nil},
		s.toCancel("Or end it, so that the same key does not go on later:"),
	}
}

func (s *subject) whenFailed() []advice {
	switch {
	case s.Reason() == v1alpha1.ReasonKeyReused:
		return []advice{{"It did not happen: its key belongs to another action. Delete it, and submit it under a key of its own.", []string{s.run("kubectl delete tasksubmission " + s.Name.Name)}}}
	case s.hidden():
		return []advice{{"It did not happen. Remove the cause, then have it tried again by somebody who may decide:", []string{s.decide(v1alpha1.DecisionRetry)}}}
	case s.Action() == nil:
		return []advice{{"It did not happen, and leaves nothing behind. Delete it, correct what the message names, and submit it again.", []string{s.run("kubectl delete tasksubmission " + s.Name.Name)}}}
	case s.Action().Unapproved:
		return []advice{{"It did not happen, and was ended before it was approved, which is final. To have it happen, submit it under a new key.", nil}}
	case s.Submission == nil:
		return []advice{{"It did not happen. To try it again, apply the submission again first.", []string{s.decide(v1alpha1.DecisionRetry)}}}
	default:
		return []advice{{"It did not happen. Remove the cause, then try it again:", []string{s.decide(v1alpha1.DecisionRetry)}}}
	}
}

func (s *subject) whileHeld() []advice {
	switch {
	case s.Holder.Stuck && s.Holder.Submission != "":
		gone := &subject{inbox.Subject{Name: types.NamespacedName{Namespace: s.Name.Namespace, Name: s.Holder.Submission}}}
		return []advice{
			{fmt.Sprintf("The business key is held by %s, whose submission was deleted before its end. Apply that again, or end it:", gone.Name.Name), []string{gone.run("kubectl taskonce explain " + gone.Name.Name), gone.decide(v1alpha1.DecisionCancel)}},
			s.toCancel("Or end this one:"),
		}
	case s.Holder.Stuck:
		return []advice{
			{"The record that held the business key was deleted. Find out whether its effect happened; if it did, cancel this one, and if not, delete the claim:", []string{s.run("kubectl delete taskrecord " + s.Action().Claim)}},
			s.toCancel("Or end this one:"),
		}
	case s.Holder.Submission != "":
		return []advice{{"Another submission has its business key, and this one gets its result, or its turn. See what that waits for:", []string{s.run("kubectl taskonce explain " + s.Holder.Submission)}}, s.toCancel("Or end it:")}
	case s.hidden():
		return []advice{{"Another submission has its business key, and this one gets its result, or its turn. Which one is in its record, which you may not read.", nil}, s.toCancel("Or have it ended by somebody who may decide:")}
	default:
		return []advice{{"Nothing has to be done: its turn has come.", nil}, s.toCancel("To have it not happen:")}
	}
}

func (s *subject) toApprove(text string) advice {
	command := s.decide(v1alpha1.DecisionApprove)
	if digest := s.EffectDigest(); digest != "" {
		command += " --template-digest=" + short(digest)
	}
	return advice{text, []string{s.run("kubectl get tasktemplate " + s.TemplateName() + " -o yaml"), command}}
}

func (s *subject) toCancel(text string) advice {
	return advice{text, []string{s.decide(v1alpha1.DecisionCancel)}}
}

func (s *subject) toConfirm() []advice {
	if s.Action() != nil && !doubtful(s) {
		return []advice{{"Its template cannot be used to find out. Bring it back, and it goes on by itself:", []string{s.run("kubectl get tasktemplate " + s.TemplateName() + " -o wide")}}}
	}
	return []advice{
		{"Look at the receiver. If it happened:", []string{s.decide(v1alpha1.DecisionConfirmApplied)}},
		{"If it did not happen, and cannot happen any more (not out of a queue either):", []string{s.decide(v1alpha1.DecisionConfirmNotApplied)}},
	}
}

// decide is the command for a decision.
func (s *subject) decide(action v1alpha1.DecisionAction) string {
	return s.run("kubectl taskonce "+decisionCalled(action).verb+" "+s.Name.Name) + ` --reason="…"`
}

// run names the namespace, so that a command can be copied.
func (s *subject) run(command string) string { return command + " -n " + s.Name.Namespace }

// short is a digest as far as a person compares it.
func short(digest string) string {
	const enough = len("sha256:") + 12
	if len(digest) <= enough {
		return digest
	}
	return digest[:enough]
}
