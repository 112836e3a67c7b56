package main

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// What a Job adds: it runs on by itself, whatever becomes of the submission and of the operator.

func jobRunsOn() step {
	const key = "pack-parcel-88"
	return step{
		name: "job runs on",
		story: "The effect is a Job. While its pod runs the submission is deleted and, as GitOps might, applied again; a Job that\n" +
			"is simply created again would run its program a second time. (The Job controller is Kubernetes' own; the container\n" +
			"is played, and calls the receiver.)",
		play: func(ctx context.Context, s *stage) error {
			submission := s.submission(key, "pack-parcel", `{"parcel": "88", "amount": 1}`)
			if err := s.submit(ctx, submission); err != nil {
				return err
			}
			if err := s.reaches(ctx, submission, v1alpha1.ReasonInProgress); err != nil {
				return err
			}
			select {
			case <-s.container.begun:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if err := s.remove(ctx, submission); err != nil {
				return err
			}
			s.say("Its pod runs; the submission is deleted and applied again, and the pod goes on.")
			again := s.submission(key, "pack-parcel", `{"parcel": "88", "amount": 1}`)
			if err := s.submit(ctx, again); err != nil {
				return err
			}
			close(s.container.goOn)
			return s.tellEnd(ctx, again)
		},
		judge: func(e *evidence) []Finding {
			return []Finding{
				e.stands(key, "Success/Applied"),
				holds("it is the first one's record that answers", e.submission(key) != nil && e.submission(key).Status.Replayed, "it does not say that it is replayed"),
				e.calls(1, key),
				e.effects(1, key),
				e.isReceipt(key),
				count(1, e.jobsOf(key), "Job"),
				count(1, e.podsOf(key), "pod"),
			}
		},
	}
}

// jobsOf counts the Jobs that were made for a key.
func (e *evidence) jobsOf(key string) int {
	n := 0
	for _, job := range e.jobs {
		if job.Labels[v1alpha1.LabelSubmission] == nameOf(key) {
			n++
		}
	}
	return n
}

// podsOf counts the pods that were made for a key's Jobs.
func (e *evidence) podsOf(key string) int {
	n := 0
	for _, pod := range e.pods {
		if strings.HasPrefix(pod.Name, nameOf(key)+"-a") && pod.Status.Phase == corev1.PodSucceeded {
			n++
		}
	}
	return n
}
