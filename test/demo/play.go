package main

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// submitAndFinish plays what many steps are: a submission, and the wait for its end.
func submitAndFinish(key, template, parameters string) func(context.Context, *stage) error {
	return func(ctx context.Context, s *stage) error {
		submission := s.submission(key, template, parameters)
		if err := s.submit(ctx, submission); err != nil {
			return err
		}
		return s.tellEnd(ctx, submission)
	}
}

// tellEnd waits until a submission has finished and says how it came there.
func (s *stage) tellEnd(ctx context.Context, submission *v1alpha1.TaskSubmission) error {
	done, err := s.finished(ctx, submission)
	if err != nil {
		return err
	}
	s.say("%s: %s, after %s", done.Name, way(s.journal.standings(done.Name)), counted(int(done.Status.Attempts), "attempt"))
	return nil
}

// finishedByName waits for a submission that somebody else has created.
func (s *stage) finishedByName(ctx context.Context, key string) error {
	var submission v1alpha1.TaskSubmission
	if err := s.api.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: nameOf(key)}, &submission); err != nil {
		return fmt.Errorf("nobody's create came through: %w", err)
	}
	return s.tellEnd(ctx, &submission)
}

// way writes the standings with arrows, without the first one, which every submission has.
func way(standings []string) string {
	var text string
	for _, standing := range standings {
		switch {
		case standing == "Pending/":
		case text == "":
			text = standing
		default:
			text += " → " + standing
		}
	}
	return text
}
