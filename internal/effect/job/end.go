package job

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

// completed is a Job that ended well. The result is what its pod's main container left as its termination message.
func (r *run) completed(ctx context.Context, job *batchv1.Job) (effect.Outcome, error) {
	pods, err := r.pods(ctx, job)
	if err != nil {
		return effect.Outcome{}, err
	}
	outcome := effect.Outcome{Kind: v1alpha1.OutcomeApplied, Finished: true, Message: fmt.Sprintf("the Job %s is complete", job.Name)}
	for i := range pods {
		if ended := endOf(&pods[i], job); pods[i].Status.Phase == corev1.PodSucceeded && ended != nil {
			store(&outcome, ended.Message)
			return outcome, nil
		}
	}
	outcome.Message += "; its pod is gone, and the result with it"
	return outcome, nil
}

// maxTermination is where a kubelet cuts the message of one container.
const maxTermination = 4096

func store(outcome *effect.Outcome, message string) {
	cut := len(message) == maxTermination && !json.Valid([]byte(message))
	outcome.StoreResult([]byte(message), "", cut)
}

// failed is a Job that did not end well. It certainly had no effect only where every pod that it had is there to say so,
// by an exit code that is listed; a pod that was disrupted, or is gone, says nothing.
func (r *run) failed(ctx context.Context, job *batchv1.Job) (effect.Outcome, error) {
	pods, err := r.pods(ctx, job)
	if err != nil {
		return effect.Outcome{}, err
	}
	listed := strings.Split(job.Annotations[annotationExitCodes], ",")
	all := len(pods) > 0 && len(pods) == int(job.Status.Failed)
	var ends []string
	for i := range pods {
		how, code := describe(&pods[i], job)
		ends = append(ends, how)
		all = all && slices.Contains(listed, strconv.Itoa(int(code)))
	}
	outcome := effect.Outcome{Finished: true, Kind: v1alpha1.OutcomeUnknown}
	if all {
		outcome.Kind = v1alpha1.OutcomeNotApplied
		outcome.Message = line("the Job %s had no effect: %s", job.Name, strings.Join(ends, ", "))
		return outcome, nil
	}
	if len(pods) < int(job.Status.Failed) {
		ends = append(ends, "a pod is gone")
	}
	outcome.Message = line("the Job %s failed (%s), which does not say whether it had its effect", job.Name, strings.Join(append([]string{why(job)}, ends...), ", "))
	return outcome, nil
}

// describe says how a pod ended, and with which exit code; 0: none that could be listed.
func describe(pod *corev1.Pod, job *batchv1.Job) (string, int32) {
	ended := endOf(pod, job)
	switch {
	case disrupted(pod):
		return "its pod was disrupted", 0
	case ended == nil:
		return fmt.Sprintf("its container %s never ended", job.Annotations[annotationMain]), 0
	case pod.Status.Phase != corev1.PodFailed:
		return "its pod did not fail", 0
	default:
		return fmt.Sprintf("exit code %d", ended.ExitCode), ended.ExitCode
	}
}

func disrupted(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
	})
}

// why is what the Job controller says.
func why(job *batchv1.Job) string {
	for _, condition := range job.Status.Conditions {
		if condition.Type == batchv1.JobFailed && condition.Reason != "" {
			return condition.Reason
		}
	}
	return "for no stated reason"
}

// endOf is how the main container of a pod ended; nil where it did not, or nobody knows.
func endOf(pod *corev1.Pod, job *batchv1.Job) *corev1.ContainerStateTerminated {
	for i := range pod.Status.ContainerStatuses {
		if status := &pod.Status.ContainerStatuses[i]; status.Name == job.Annotations[annotationMain] {
			return status.State.Terminated
		}
	}
	return nil
}

// pods lists the pods of a Job, live: nothing else holds exit codes and termination messages.
func (r *run) pods(ctx context.Context, job *batchv1.Job) ([]corev1.Pod, error) {
	list := &corev1.PodList{}
	err := r.Client.List(ctx, list, client.InNamespace(job.Namespace), client.MatchingLabels{batchv1.ControllerUidLabel: string(job.UID)})
	return list.Items, err
}
