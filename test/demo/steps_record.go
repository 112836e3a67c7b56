package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// What is remembered when a submission is gone, and what never becomes worth remembering.

func appliedAgain() step {
	const key = "gift-card-ada"
	return step{
		name: "deleted and applied again",
		story: "A submission is deleted and the same manifest applied again, as GitOps does; and once more when its template is gone.\n" +
			"Deleting is not forgetting: the first result is returned.",
		play: func(ctx context.Context, s *stage) error {
			for _, label := range []string{"first", "again", "no template"} {
				submission := s.submission(key, "gift-card", `{"owner": "ada", "amount": 50}`)
				if err := s.submit(ctx, submission); err != nil {
					return err
				}
				done, err := s.finished(ctx, submission)
				if err != nil {
					return err
				}
				s.remember(label, done)
				s.say("%s: %s, replayed: %t, result %s", label, standing(done), done.Status.Replayed, result(done))
				switch label {
				case "first":
					err = s.remove(ctx, submission)
				case "again":
					err = s.removeWithTemplate(ctx, submission)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
		judge: func(e *evidence) []Finding {
			first, again, without := e.seen["first"], e.seen["again"], e.seen["no template"]
			if first == nil || again == nil || without == nil {
				return []Finding{{"three submissions that finish", "not all of them finished"}}
			}
			return []Finding{
				{"Success/Applied", standing(first)},
				replayed(first, false),
				Finding{"Success/Applied", standing(again)}.about("again"),
				replayed(again, true).about("again"),
				e.sameResult("the same result and digest", first, again).about("again"),
				Finding{"Success/Applied", standing(without)}.about("no template"),
				replayed(without, true).about("no template"),
				e.sameResult("the same result and digest", first, without).about("no template"),
				e.effects(1, key),
			}
		},
	}
}

func replayed(s *v1alpha1.TaskSubmission, want bool) Finding {
	return Finding{fmt.Sprintf("replayed: %t", want), fmt.Sprintf("replayed: %t", s.Status.Replayed)}
}

func (s *stage) removeWithTemplate(ctx context.Context, submission *v1alpha1.TaskSubmission) error {
	if err := s.remove(ctx, submission); err != nil {
		return err
	}
	template := &v1alpha1.TaskTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: submission.Spec.TemplateRef.Name}}
	return s.api.Delete(ctx, template)
}

// sameResult compares two results as canonical JSON, and their digests.
func (e *evidence) sameResult(sentence string, a, b *v1alpha1.TaskSubmission) Finding {
	one, err := v1alpha1.CanonicalJSON([]byte(result(a)))
	if err != nil {
		return Finding{sentence, "a result is no JSON: " + err.Error()}
	}
	two, err := v1alpha1.CanonicalJSON([]byte(result(b)))
	if err != nil {
		return Finding{sentence, "a result is no JSON: " + err.Error()}
	}
	same := bytes.Equal(one, two) && a.Status.ResultDigest == b.Status.ResultDigest && a.Status.ResultDigest != ""
	return holds(sentence, same, "%s %s, and %s %s", one, a.Status.ResultDigest, two, b.Status.ResultDigest)
}

func badInput() step {
	const negative, letter = "award-minus-five", "print-letter-13"
	const field = "spec.effect.http.url"
	return step{
		name: "bad input",
		story: "Points that the template's schema refuses, and a template with a misspelt parameter. Bad input costs nothing:\n" +
			"nothing is sent, nothing is recorded, and what is wrong is said.",
		play: func(ctx context.Context, s *stage) error {
			submission := s.submission(negative, "award-points", `{"taskId": 45, "studentId": "stu-1", "submitVersion": 1, "amount": -5}`)
			if err := s.submit(ctx, submission); err != nil {
				return err
			}
			done, err := s.finished(ctx, submission)
			if err != nil {
				return err
			}
			s.say("%s is %s: %s", negative, standing(done), done.Status.Message)
			waiting := s.submission(letter, misspelt, `{"address": "1 Main Street", "amount": 1}`)
			if err := s.submit(ctx, waiting); err != nil {
				return err
			}
			_, err = s.journal.await(ctx, waiting.UID, "told that its template cannot be used", func(now *v1alpha1.TaskSubmission, _ bool) bool {
				return now.Status.Reason == v1alpha1.ReasonTemplateNotReady
			})
			return err
		},
		judge: func(e *evidence) []Finding {
			return []Finding{
				e.stands(negative, "Failed/InvalidParameters").about("points"),
				e.stands(letter, "Pending/TemplateNotReady").about("letter"),
				e.notReady(misspelt, field),
				count(0, e.recordsOf(negative, letter), "record"),
				e.calls(0, negative).about("points"), e.effects(0, negative).about("points"),
				e.calls(0, letter).about("letter"), e.effects(0, letter).about("letter"),
			}
		},
	}
}

// notReady finds the field's name in the condition of a template.
func (e *evidence) notReady(name, field string) Finding {
	sentence := "the template is not Ready and names " + field
	for i := range e.templates {
		if e.templates[i].Name != name {
			continue
		}
		ready := meta.FindStatusCondition(e.templates[i].Status.Conditions, v1alpha1.ConditionReady)
		if ready == nil {
			return Finding{sentence, "it has no condition Ready"}
		}
		right := ready.Status == metav1.ConditionFalse && strings.Contains(ready.Message, field)
		return holds(sentence, right, "Ready is %s: %s", ready.Status, ready.Message)
	}
	return Finding{sentence, "there is no such template"}
}
