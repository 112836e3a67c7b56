package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// writers is how many puts are under way.
const writers = 32

// remember puts finished submissions and their records into etcd as the API server would have stored them. The first of
// them are due.
func remember(ctx context.Context, endpoint, namespace string, n, due int) error {
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, DialTimeout: 10 * time.Second})
	if err != nil {
		return err
	}
	defer func() { _ = etcd.Close() }() // everything is acknowledged by then
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := range n {
		group.Go(func() error {
			submission, record := finished(namespace, i, i < due)
			if err := put(ctx, etcd, "taskrecords", record); err != nil {
				return err
			}
			return put(ctx, etcd, "tasksubmissions", submission)
		})
	}
	return group.Wait()
}

func put(ctx context.Context, etcd *clientv3.Client, resource string, object metav1.Object) error {
	raw, err := json.Marshal(object)
	if err != nil {
		return err
	}
	_, err = etcd.Put(ctx, "/registry/taskonce.dev/"+resource+"/"+object.GetNamespace()+"/"+object.GetName(), string(raw))
	return err
}

// finished is a submission and its record after a success: an hour ago, or long enough ago to be removed.
func finished(namespace string, i int, due bool) (*v1alpha1.TaskSubmission, *v1alpha1.TaskRecord) {
	at := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
	if due {
		at = metav1.NewTime(at.Add(-48 * time.Hour))
	}
	expires := metav1.NewTime(at.Add(720 * time.Hour))
	name := fmt.Sprintf("past-%06d", i)
	submission := &v1alpha1.TaskSubmission{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "TaskSubmission"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: uuid.NewUUID(), Generation: 1, CreationTimestamp: at},
	}
	submission.Spec.TemplateRef.Name = templateName
	submission.Spec.Parameters = apiextensionsv1.JSON{Raw: []byte(`{"taskId":42,"studentId":"stu-7","submitVersion":3,"points":10}`)}
	digest, _ := v1alpha1.PayloadDigest(&submission.Spec) // of a literal
	result := &apiextensionsv1.JSON{Raw: fmt.Appendf(nil, `{"receipt":%d}`, i)}
	condition := func(kind string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: "Applied", Message: "the effect was applied", ObservedGeneration: 1, LastTransitionTime: at}
	}
	record := v1alpha1.RecordName(name)
	submission.Status = v1alpha1.TaskSubmissionStatus{
		Phase: v1alpha1.PhaseSuccess, Reason: v1alpha1.ReasonApplied, Message: "the effect was applied", Attempts: 1, Result: result,
		ResultDigest: digest, RecordName: record, StartedAt: &at, CompletedAt: &at, ExpiresAt: &expires, ObservedGeneration: 1,
		Conditions: []metav1.Condition{condition(v1alpha1.ConditionReady), condition(v1alpha1.ConditionFinished)},
	}
	return submission, &v1alpha1.TaskRecord{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "TaskRecord"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: record, UID: uuid.NewUUID(), Generation: 2, CreationTimestamp: at, Labels: map[string]string{
			v1alpha1.LabelSubmission: name, v1alpha1.LabelDue: strconv.FormatInt(at.Add(24*time.Hour).Unix()+1, 10),
		}},
		Spec: v1alpha1.TaskRecordSpec{Type: v1alpha1.RecordIdempotencyKey, Key: name, Template: templateName, Action: &v1alpha1.Action{
			PayloadDigest: digest, EffectDigest: digest, Submission: v1alpha1.SubmissionRef{Name: name, UID: submission.UID},
			Phase: v1alpha1.PhaseSuccess, Reason: v1alpha1.ReasonApplied, Message: "the effect was applied",
			Attempt: v1alpha1.Attempt{Number: 1, Timeout: metav1.Duration{Duration: 30 * time.Second}, Executor: "before", Outcome: v1alpha1.OutcomeApplied},
			Result:  result, ResultDigest: digest, StartedAt: &at, CompletedAt: &at, ExpiresAt: &expires,
		}},
	}
}
