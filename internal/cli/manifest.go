package cli

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// files are what -f, -R and -k name.
type files struct {
	names     []string
	recursive bool
	kustomize string
}

func (f *files) flags(what string) *genericclioptions.FileNameFlags {
	return &genericclioptions.FileNameFlags{Usage: what, Filenames: &f.names, Recursive: &f.recursive, Kustomize: &f.kustomize}
}

func (f *files) given() bool { return len(f.names) > 0 || f.kustomize != "" }

// infos reads the manifests, without asking the API server.
func (f *files) infos(ctx context.Context, s *session) ([]*resource.Info, error) {
	options := f.flags("").ToOptions()
	return unless(ctx, resource.NewBuilder(s.flags).Unstructured().Local().FilenameParam(false, &options).Flatten().Do().Infos)
}

// submissions reads manifests of submissions only. A misspelt field is an error.
func (f *files) submissions(ctx context.Context, s *session) ([]*v1alpha1.TaskSubmission, error) {
	infos, err := f.infos(ctx, s)
	if err != nil {
		return nil, err
	}
	var all []*v1alpha1.TaskSubmission
	for _, info := range infos {
		object, ok := info.Object.(*unstructured.Unstructured)
		if !ok || object.GroupVersionKind() != v1alpha1.GroupVersion.WithKind("TaskSubmission") {
			return nil, fmt.Errorf("%s: it is a %s, and only TaskSubmissions of %s can be here", info.Source, info.Object.GetObjectKind().GroupVersionKind().Kind, v1alpha1.GroupVersion)
		}
		typed := &v1alpha1.TaskSubmission{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, typed, true); err != nil {
			return nil, fmt.Errorf("%s: %w", info.Source, err)
		}
		all = append(all, typed)
	}
	return all, nil
}
