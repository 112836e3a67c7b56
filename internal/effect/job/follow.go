package job

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Runs implements effect.Follower from the cache. A Job that it does not hold yet, or not any more, is asked for.
func (r *run) Runs(namespace, location string) bool {
	job := &batchv1.Job{}
	if err := r.Cache.Get(context.Background(), types.NamespacedName{Namespace: namespace, Name: location}, job); err != nil {
		return false
	}
	return !finished(job) && !waits(job)
}
