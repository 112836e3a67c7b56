package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/bench/report"
	"github.com/taskonce/taskonce/test/harness"
)

// bareGroup has copies of our kinds: same schemas, same rules, and nobody who watches them.
var bareGroup = schema.GroupVersion{Group: "bench.taskonce.dev", Version: v1alpha1.GroupVersion.Version}

// bareClient installs the copies and returns a client that writes our types there.
func bareClient(config *rest.Config) (client.Client, error) {
	root, err := harness.Root()
	if err != nil {
		return nil, err
	}
	var copies []*apiextensionsv1.CustomResourceDefinition
	for _, plural := range []string{"tasksubmissions", "taskrecords"} {
		text, err := os.ReadFile(filepath.Join(root, "config", "crd", "bases", v1alpha1.GroupVersion.Group+"_"+plural+".yaml"))
		if err != nil {
			return nil, err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(text, crd); err != nil {
			return nil, err
		}
		crd.Name, crd.Spec.Group = plural+"."+bareGroup.Group, bareGroup.Group
		copies = append(copies, crd)
	}
	if _, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{CRDs: copies}); err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(bareGroup, &v1alpha1.TaskSubmission{}, &v1alpha1.TaskRecord{})
	metav1.AddToGroupVersion(scheme, bareGroup)
	return client.New(config, client.Options{Scheme: scheme})
}

// specimen is one submission as the operator carried it out: what the bare client writes after it.
type specimen struct {
	submission       *v1alpha1.TaskSubmission
	begun, concluded *v1alpha1.TaskRecord
}

// observe has the operator carry one submission out and returns all that it wrote.
func (w *world) observe(ctx context.Context) (*specimen, error) {
	f, err := w.prepare(ctx, kind{}, nil)
	if err != nil {
		return nil, err
	}
	defer f.close()
	watching, err := w.api.Watch(ctx, &v1alpha1.TaskRecordList{}, client.InNamespace(f.namespace))
	if err != nil {
		return nil, err
	}
	defer watching.Stop()
	one := w.expect(submission(f.namespace, 0))
	if err := w.api.Create(ctx, one); err != nil {
		return nil, err
	}
	s := &specimen{}
	if s.submission, err = f.success(ctx, one.Name); err != nil {
		return nil, err
	}
	for event := range watching.ResultChan() {
		record, ok := event.Object.(*v1alpha1.TaskRecord)
		switch {
		case !ok:
			return nil, errors.New("the watch of records ended")
		case record.Spec.Action.Phase == v1alpha1.PhaseSuccess:
			s.concluded = record
			return s, nil
		default:
			s.begun = record
		}
	}
	return nil, errors.New("the watch of records ended")
}

// bareLoad is how much the bare client does, as a load is.
type bareLoad struct {
	n, clients int
	every      time.Duration
}

// bare measures a client that makes the operator's writes, and its clients', by itself, and does nothing else.
func (w *world) bare(ctx context.Context, l bareLoad) (report.Sample, error) {
	namespace, err := w.plane.Namespace(ctx)
	if err != nil {
		return report.Sample{}, err
	}
	var mu sync.Mutex
	var took []time.Duration
	sample, err := w.measure(ctx, l.n, func(ctx context.Context) error {
		return paced(ctx, l.clients, l.n, l.every, func(ctx context.Context, i int) error {
			begun := time.Now()
			_, _, err := w.writeBare(ctx, submission(namespace, i))
			mu.Lock()
			defer mu.Unlock()
			took = append(took, time.Since(begun))
			return err
		})
	})
	if err != nil {
		return sample, err
	}
	percentiles(&sample, took)
	sample.Faults = bareFaults(&sample)
	sample.Figures = w.bareSizes
	return sample, nil
}

// writeBare makes the four writes of one submission, in order, and returns what is stored then.
func (w *world) writeBare(ctx context.Context, submission *v1alpha1.TaskSubmission) (*v1alpha1.TaskSubmission, *v1alpha1.TaskRecord, error) {
	if err := w.bareAPI.Create(ctx, submission); err != nil {
		return nil, nil, err
	}
	record := &v1alpha1.TaskRecord{ObjectMeta: metav1.ObjectMeta{Namespace: submission.Namespace, Name: v1alpha1.RecordName(submission.Name)}}
	w.specimen.fill(record, w.specimen.begun, submission)
	if err := w.bareAPI.Create(ctx, record); err != nil {
		return nil, nil, err
	}
	w.specimen.fill(record, w.specimen.concluded, submission)
	record.Spec.Action.UID = record.UID
	if len(w.specimen.concluded.ManagedFields) == 0 {
		record.ManagedFields = []metav1.ManagedFieldsEntry{{}} // which has the API server drop them
	}
	if err := w.bareAPI.Update(ctx, record); err != nil {
		return nil, nil, err
	}
	submission.Status = *w.specimen.submission.Status.DeepCopy()
	submission.Status.RecordName = record.Name
	return submission, record, w.bareAPI.Status().Update(ctx, submission)
}

// fill makes a record what the operator wrote, but about another submission.
func (s *specimen) fill(record, as *v1alpha1.TaskRecord, about *v1alpha1.TaskSubmission) {
	as = as.DeepCopy()
	record.Labels, record.Spec = as.Labels, as.Spec
	record.Labels[v1alpha1.LabelSubmission] = about.Name
	record.Spec.Key = about.Name
	record.Spec.Action.Submission = v1alpha1.SubmissionRef{Name: about.Name, UID: about.UID}
}
