package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/record"
	"github.com/taskonce/taskonce/test/harness"
)

const (
	templateName = "award-points"
	// patience is for one thing to come true, on a machine that is busy with 100,000 objects.
	patience = 10 * time.Minute
)

// world is a cluster and what is needed to run operators in it.
type world struct {
	plane      *harness.ControlPlane
	client     client.Client
	namespace  string
	dir        string
	kubeconfig string
}

// measure runs an operator on nothing, then one on n finished submissions of which some are due.
func measure(ctx context.Context, n, due int) (f *figures, err error) {
	dir, err := os.MkdirTemp("", "taskonce-growth-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	w := &world{dir: dir}
	if err := w.start(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.plane.Stop()) }()
	f = &figures{n: n, due: due}
	if f.at[0], _, err = w.run(ctx, "before", 0, 0); err != nil {
		return nil, err
	}
	if err := remember(ctx, w.plane.EtcdURL(), w.namespace, n, due); err != nil {
		return nil, err
	}
	// The API server must have seen what etcd has, or its own catching up is measured.
	if _, err := w.sweep(ctx); err != nil {
		return nil, err
	}
	if f.at[1], f.removed, err = w.run(ctx, "after", n, due); err != nil {
		return nil, err
	}
	f.left, err = w.count(ctx)
	return f, err
}

func (w *world) start(ctx context.Context) (err error) {
	if err := harness.Build(ctx, w.dir, "", "./cmd/manager", "./test/receiver"); err != nil {
		return err
	}
	if w.plane, err = harness.Start(harness.Options{CRDs: true}); err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return err
	}
	if w.client, err = client.New(w.plane.Config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	if w.namespace, err = w.plane.Namespace(ctx); err != nil {
		return err
	}
	if w.kubeconfig, err = w.plane.ManagerKubeconfig(ctx); err != nil {
		return err
	}
	_, address, err := harness.LaunchReceiver(ctx, filepath.Join(w.dir, "receiver"), filepath.Join(w.dir, "receiver.log"), filepath.Join(w.dir, "ledger.jsonl"))
	if err != nil {
		return err
	}
	template := filepath.Join(w.dir, "template.yaml")
	text := fmt.Sprintf("apiVersion: taskonce.dev/v1alpha1\nkind: TaskTemplate\nmetadata: {name: %s, namespace: %s}\nspec: {effect: {http: {url: \"http://%s/plain/points\"}}}\n", templateName, w.namespace, address)
	if err := os.WriteFile(template, []byte(text), 0o600); err != nil {
		return err
	}
	_, _, err = w.plane.Kubectl(ctx, "apply", "-f", template)
	return err
}

// run starts an operator, measures it, waits until what is due is gone, and kills it.
func (w *world) run(ctx context.Context, name string, n, due int) (f figure, removed time.Duration, err error) {
	began := time.Now()
	operator, err := harness.Manager{Program: filepath.Join(w.dir, "manager"), Kubeconfig: w.kubeconfig, Log: filepath.Join(w.dir, "manager.log")}.Start(ctx)
	if err != nil {
		return f, 0, err
	}
	defer operator.Kill()
	f.start = time.Since(began)
	if f.first, err = w.first(ctx, name); err != nil {
		return f, 0, err
	}
	if err := w.settled(ctx, n+2-due); err != nil {
		return f, 0, err
	}
	removed = time.Since(began)
	if f.sweep, err = w.sweep(ctx); err != nil {
		return f, 0, err
	}
	f.memory, err = memory(operator.PID())
	return f, removed, err
}

// first creates a submission and waits for its success.
func (w *world) first(ctx context.Context, name string) (time.Duration, error) {
	began := time.Now()
	submission := &v1alpha1.TaskSubmission{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
	submission.Spec.TemplateRef.Name = templateName
	submission.Spec.Parameters = apiextensionsv1.JSON{Raw: []byte(`{}`)}
	if err := w.client.Create(ctx, submission); err != nil {
		return 0, err
	}
	err := wait.PollUntilContextTimeout(ctx, time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		err := w.client.Get(ctx, client.ObjectKeyFromObject(submission), submission)
		return submission.Status.Phase == v1alpha1.PhaseSuccess, err
	})
	return time.Since(began), err
}

// settled waits until there are no more than so many submissions.
func (w *world) settled(ctx context.Context, n int) error {
	return wait.PollUntilContextTimeout(ctx, 500*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		count, err := w.count(ctx)
		return count <= n, err
	})
}

func (w *world) count(ctx context.Context) (int, error) {
	page := &metav1.PartialObjectMetadataList{}
	page.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("TaskSubmissionList"))
	err := w.client.List(ctx, page, client.InNamespace(w.namespace), client.Limit(1))
	count := len(page.Items)
	if remaining := page.GetRemainingItemCount(); remaining != nil {
		count += int(*remaining)
	}
	return count, err
}

// sweep is how long the requests of a sweep take that finds nothing: for records, and for submissions and decisions that
// have none, which are due or do not say yet when they are.
func (w *world) sweep(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	store := &record.Store{Client: w.client}
	if err := store.EachDue(ctx, "", began, func(*v1alpha1.TaskRecord) {}); err != nil {
		return 0, err
	}
	for _, labelled := range []string{"!" + v1alpha1.LabelDue, v1alpha1.LabelDue + "<" + strconv.FormatInt(began.Unix(), 10)} {
		selector, err := labels.Parse(labelled)
		if err != nil {
			return 0, err
		}
		due := client.MatchingLabelsSelector{Selector: selector}
		failed := fields.OneTermEqualSelector("status.phase", string(v1alpha1.PhaseFailed))
		if err := w.client.List(ctx, &v1alpha1.TaskSubmissionList{}, due, client.MatchingFieldsSelector{Selector: failed}, client.Limit(200)); err != nil {
			return 0, err
		}
		judged := fields.OneTermNotEqualSelector("status.state", string(v1alpha1.DecisionPending))
		if err := w.client.List(ctx, &v1alpha1.TaskDecisionList{}, due, client.MatchingFieldsSelector{Selector: judged}, client.Limit(200)); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// memory is what a process has resident, in KiB.
func memory(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, line, found := strings.Cut(string(text), "VmRSS:")
	var kib int64
	if _, err := fmt.Sscan(line, &kib); err != nil || !found {
		return 0, fmt.Errorf("no VmRSS in /proc/%d/status", pid)
	}
	return kib, nil
}
