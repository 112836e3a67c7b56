package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// What a person decides, at a shell, with the kubectl plugin.

func askedFor() step {
	const bonus, letter = "pay-bonus-ada", "print-letter-14"
	return step{
		name: "a person decides",
		story: "A bonus waits for its approval, and a letter for somebody who looks into the tray. Both are in the inbox; each is\n" +
			"settled with one command of the kubectl plugin, and approving twice in a hurry is one approval.",
		play: func(ctx context.Context, s *stage) error {
			if err := s.askPerson(ctx, bonus, "pay-bonus", v1alpha1.ReasonAwaitingApproval); err != nil {
				return err
			}
			if err := s.askPerson(ctx, letter, "print-letter", v1alpha1.ReasonOutcomeUnknown); err != nil {
				return err
			}
			for _, command := range [][]string{
				{"inbox"},
				{"approve", bonus, "--reason=She has earned it."},
				{"approve", bonus, "--reason=She has earned it."},
				{"confirm-applied", letter, "--reason=It lies in the tray of printer 3.", `--result={"printer": 3}`},
				{"wait", bonus, letter},
			} {
				if err := s.taskonce(ctx, command...); err != nil {
					return err
				}
			}
			return nil
		},
		judge: func(e *evidence) []Finding {
			return []Finding{
				e.stands(bonus, "Success/Applied").about("bonus"),
				e.calls(1, bonus).about("bonus"), e.effects(1, bonus).about("bonus"),
				e.approvedBecause(bonus, "She has earned it."),
				e.stands(letter, "Success/ConfirmedApplied").about("letter"),
				e.calls(1, letter).about("letter"), e.effects(1, letter).about("letter"),
				Finding{`{"printer":3}`, result(e.submission(letter))}.about("letter"),
			}
		},
	}
}

// askPerson submits what will wait for somebody, and waits until it does.
func (s *stage) askPerson(ctx context.Context, key, template string, reason v1alpha1.Reason) error {
	submission := s.submission(key, template, `{"amount": 1}`)
	if err := s.submit(ctx, submission); err != nil {
		return err
	}
	return s.reaches(ctx, submission, reason)
}

// taskonce runs the plugin, and says what it says.
func (s *stage) taskonce(ctx context.Context, args ...string) error {
	command := exec.CommandContext(ctx, filepath.Join(s.dir, pluginProgram), append(args, "-n", s.namespace)...)
	command.Env = s.plane.Environ()
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	err := command.Run()
	s.say("$ kubectl taskonce %s", strings.Join(args, " "))
	for line := range strings.Lines(out.String()) {
		s.say("  %s", strings.TrimRight(line, "\n"))
	}
	if err != nil {
		return fmt.Errorf("kubectl taskonce %s: %w: %s", args[0], err, out.String())
	}
	return nil
}

// approvedBecause finds the reason of the approval in the record.
func (e *evidence) approvedBecause(key, reason string) Finding {
	sentence := "its record says why it was approved: " + reason
	for i := range e.records {
		if action := e.records[i].Spec.Action; e.records[i].Spec.Key == key && action != nil && action.Approval != nil {
			return holds(sentence, action.Approval.Reason == reason, "it says: %s", action.Approval.Reason)
		}
	}
	return Finding{sentence, "no record speaks of an approval"}
}
