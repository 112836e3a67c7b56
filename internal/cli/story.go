package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// write tells a story to a person. Times are told as ages, as kubectl does.
func (s *story) write(w io.Writer, now time.Time, another bool) {
	if another {
		fmt.Fprintln(w)
	}
	_ = table(w, func(row func(...any)) { // to a terminal or a pipe, which says itself when it is closed
		for _, line := range s.head(now) {
			row(line[0], line[1])
		}
	})
	fmt.Fprintln(w, "\nWhat happened:")
	for _, line := range s.events(now) {
		fmt.Fprintln(w, "  "+line)
	}
	fmt.Fprintf(w, "\nNow: %s\n", s.message())
	fmt.Fprintln(w, "\nWhat to do:")
	for _, advice := range advise(s.subject) {
		fmt.Fprintln(w, "  "+advice.text)
		for _, command := range advice.commands {
			fmt.Fprintln(w, "    "+command)
		}
	}
}

// head is what it is about.
func (s *story) head(now time.Time) [][2]string {
	var lines [][2]string
	add := func(name, value string) {
		if value != "" {
			lines = append(lines, [2]string{name + ":", value})
		}
	}
	add("Submission", s.Name.Namespace+"/"+s.Name.Name)
	if s.Submission == nil {
		add("Deleted", "yes; its record "+s.Record.Name+" answers")
	}
	if key := s.key(); key != s.Name.Name {
		add("Key", key)
	}
	add("Template", s.TemplateName())
	add("Parameters", s.parameters())
	add("State", s.standing())
	if action := s.Action(); action != nil {
		add("Business key", action.BusinessKey)
		add("Submitted by", action.Submitter)
		add("On behalf of", action.OnBehalfOf)
	}
	if s.Submission != nil {
		if s.hidden() {
			add("Business key", s.Submission.Status.BusinessKey)
		}
		add("Duplicate of", s.Submission.Status.DuplicateOf)
		if at := s.Submission.Status.ExpiresAt; at != nil {
			add("Answers for", duration.HumanDuration(at.Sub(now))+" more")
		}
		if result := s.Submission.Status.Result; result != nil {
			add("Result", cut(oneLine(result.Raw), 100))
		}
	}
	return lines
}

func (s *story) key() string {
	if s.Submission != nil {
		return s.Submission.Key()
	}
	return s.Record.Spec.Key
}

// message is the sentence that says why it is where it is.
func (s *story) message() string {
	var message string
	switch {
	case s.Left():
		return "its submission was deleted, so no further attempt begins"
	case s.Submission != nil:
		message = s.Submission.Status.Message
	default:
		message = s.Action().Message
	}
	if message == "" {
		return "the operator has not looked at it yet"
	}
	return message
}

// events are its submission, its attempts, each with the decisions about it, and its end.
func (s *story) events(now time.Time) []string {
	var lines []string
	if s.Submission != nil {
		replayed := ""
		if s.Submission.Status.Replayed {
			replayed = ", after an earlier submission of this key was deleted; the record answers"
		}
		lines = append(lines, "submitted "+ago(now, s.Submission.CreationTimestamp.Time)+replayed)
	}
	made := s.decisions
	for _, attempt := range s.attempts() {
		for len(made) > 0 && made[0].Spec.Attempt < attempt.Number {
			lines, made = append(lines, tellDecision(now, &made[0])), made[1:]
		}
		lines = append(lines, tellAttempt(now, &attempt))
	}
	if s.hidden() {
		lines = append(lines, fmt.Sprintf("attempts so far: %d; what came of each is in its record, which you may not read: the roles taskonce-viewer and taskonce-approver may", s.attempt()))
	}
	for i := range made {
		lines = append(lines, tellDecision(now, &made[i]))
	}
	if s.Submission != nil && s.Submission.Status.CompletedAt != nil {
		lines = append(lines, "ended as "+s.standing()+" "+ago(now, s.endedAt()))
	}
	return lines
}

// attempts are those that are known, in their order.
func (s *story) attempts() []v1alpha1.Attempt {
	action := s.Action()
	if action == nil {
		return nil
	}
	if action.Attempt.Number == 0 {
		return action.History
	}
	return append(slices.Clone(action.History), action.Attempt)
}

// endedAt is when it ended, which is stored in whole seconds: no end is told to be before its last attempt.
func (s *story) endedAt() time.Time {
	ended := s.Submission.Status.CompletedAt.Time
	if action := s.Action(); action != nil && action.Attempt.StartedAt != nil && action.Attempt.StartedAt.After(ended) {
		return action.Attempt.StartedAt.Time
	}
	return ended
}

func tellAttempt(now time.Time, a *v1alpha1.Attempt) string {
	text := fmt.Sprintf("attempt %d", a.Number)
	if a.StartedAt != nil {
		text += " begun " + ago(now, a.StartedAt.Time)
	}
	if a.Open() {
		return fmt.Sprintf("%s, under way; it may take %s", text, duration.HumanDuration(a.Timeout.Duration))
	}
	if a.Outcome == v1alpha1.OutcomeApplied && a.Message != "" { // the message is of before that was known
		return fmt.Sprintf("%s: %s; at first: %s", text, a.Outcome, a.Message)
	}
	return strings.TrimSuffix(fmt.Sprintf("%s: %s: %s", text, a.Outcome, a.Message), ": ")
}

func tellDecision(now time.Time, d *v1alpha1.TaskDecision) string {
	by := "somebody"
	if who := d.Annotations[v1alpha1.AnnotationDecidedBy]; who != "" {
		by = who
	}
	text := fmt.Sprintf("%s by %s %s, for attempt %d, because: %s", d.Spec.Action, by, ago(now, d.CreationTimestamp.Time), d.Spec.Attempt, d.Spec.Reason)
	switch d.Status.State {
	case v1alpha1.DecisionApplied:
		return text
	case v1alpha1.DecisionRefused, v1alpha1.DecisionSuperseded:
		return fmt.Sprintf("%s (%s: %s)", text, d.Status.State, d.Status.Message)
	default:
		if d.Status.Message != "" {
			return fmt.Sprintf("%s (it waits: %s)", text, d.Status.Message)
		}
		return text + " (not judged yet)"
	}
}

func ago(now, then time.Time) string { return duration.HumanDuration(now.Sub(then)) + " ago" }

func (s *session) ago(then time.Time) string { return ago(s.now(), then) }
