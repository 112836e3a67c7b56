package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// writers is how many puts are under way.
const writers = 32

// remember puts finished submissions and their records into etcd as the API server stored the specimen, and returns how
// many bytes they have. They have finished an hour ago, or where they are due long enough ago to be removed.
func (w *world) remember(ctx context.Context, namespace string, n int, due bool) (bytes int64, err error) {
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{w.plane.EtcdURL()}, DialTimeout: 10 * time.Second})
	if err != nil {
		return 0, err
	}
	defer func() { _ = etcd.Close() }() // everything is acknowledged by then
	var sum atomic.Int64
	put := func(ctx context.Context, resource string, object metav1.Object) error {
		raw, err := json.Marshal(object)
		if err != nil {
			return err
		}
		sum.Add(int64(len(raw)))
		_, err = etcd.Put(ctx, "/registry/taskonce.dev/"+resource+"/"+namespace+"/"+object.GetName(), string(raw))
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := range n {
		group.Go(func() error {
			submission, record := w.specimen.past(namespace, i, due)
			if err := put(ctx, "taskrecords", record); err != nil {
				return err
			}
			return put(ctx, "tasksubmissions", submission)
		})
	}
	err = group.Wait()
	return sum.Load(), err
}

// past is the nth submission of a namespace that has finished as the specimen did, with its record.
func (s *specimen) past(namespace string, n int, due bool) (*v1alpha1.TaskSubmission, *v1alpha1.TaskRecord) {
	at := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
	if due {
		at = metav1.NewTime(at.Add(-48 * time.Hour))
	}
	expires := metav1.NewTime(at.Add(720 * time.Hour))
	name := fmt.Sprintf("past-%06d", n)
	record := s.concluded.DeepCopy()
	submission := s.submission.DeepCopy()
	submission.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "TaskSubmission"}
	record.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "TaskRecord"}
	for _, object := range []metav1.Object{submission, record} {
		object.SetNamespace(namespace)
		object.SetUID(uuid.NewUUID())
		object.SetResourceVersion("")
		object.SetCreationTimestamp(at)
	}
	submission.Name, record.Name = name, v1alpha1.RecordName(name)

	status := &submission.Status
	status.RecordName, status.StartedAt, status.CompletedAt, status.ExpiresAt = record.Name, &at, &at, &expires
	for i := range status.Conditions {
		status.Conditions[i].LastTransitionTime = at
	}
	record.Labels[v1alpha1.LabelSubmission] = name
	record.Labels[v1alpha1.LabelDue] = strconv.FormatInt(at.Add(24*time.Hour).Unix()+1, 10)
	record.Spec.Key = name
	action := record.Spec.Action
	action.UID, action.Submission = record.UID, v1alpha1.SubmissionRef{Name: name, UID: submission.UID}
	action.StartedAt, action.CompletedAt, action.ExpiresAt = &at, &at, &expires
	return submission, record
}
