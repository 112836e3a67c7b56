package controller

import (
	"context"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// priorityBegun puts what has begun before what has not: finishing frees slots, beginning takes them.
const priorityBegun = 100

// wakeQueue lets flights and decisions wake the reconciler. It is a source: the controller hands it its queue.
type wakeQueue struct {
	queue atomic.Pointer[workqueue.TypedRateLimitingInterface[reconcile.Request]]
}

// Start takes the controller's queue.
func (w *wakeQueue) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	w.queue.Store(&queue)
	return nil
}

func (w *wakeQueue) wake(action types.NamespacedName) {
	queue := w.queue.Load()
	if queue == nil {
		return // nothing is reconciled yet, or only while draining, which looks at every flight itself
	}
	request := reconcile.Request{NamespacedName: action}
	if ordered, ok := (*queue).(priorityqueue.PriorityQueue[reconcile.Request]); ok {
		ordered.AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(priorityBegun)}, request)
		return
	}
	(*queue).Add(request)
}
