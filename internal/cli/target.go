package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// targets are the submissions that a command is about: named, in files, or selected.
type targets struct {
	files         files
	selector      string
	fieldSelector string
	every         bool
	everywhere    bool
}

func (t *targets) addFlags(flags *pflag.FlagSet) {
	t.files.flags("Files with the TaskSubmissions that are meant; - is standard input.").AddFlags(flags)
	flags.StringVarP(&t.selector, "selector", "l", "", "Those that this label selector finds.")
	flags.StringVar(&t.fieldSelector, "field-selector", "", "Those that this field selector finds: status.phase, status.reason and spec.templateRef.name can be selected.")
	flags.BoolVar(&t.every, "all", false, "All in the namespace.")
	flags.BoolVarP(&t.everywhere, "all-namespaces", "A", false, "Select across all namespaces.")
}

// selects reports whether what is meant is found by the API server, and not named by the caller.
func (t *targets) selects() bool { return t.selector != "" || t.fieldSelector != "" || t.every }

// check says what is wrong with flags and arguments.
func (t *targets) check(command *cobra.Command, args []string) error {
	ways := 0
	for _, way := range []bool{len(args) > 0, t.files.given(), t.selects()} {
		if way {
			ways++
		}
	}
	switch {
	case ways != 1:
		return usage(command, "name submissions, or give -f, or select them with -l, --field-selector or --all: exactly one of these")
	case t.every && t.selector+t.fieldSelector != "":
		return usage(command, "--all and a selector contradict each other")
	case t.everywhere && !t.selects():
		return usage(command, "--all-namespaces is for a selection: a name is one namespace's")
	}
	return nil
}

// names returns those that the caller names, in arguments or in files.
func (t *targets) names(ctx context.Context, s *session, c *cluster, args []string) ([]types.NamespacedName, error) {
	var all []types.NamespacedName
	for _, arg := range args {
		name, err := submissionNamed(arg)
		if err != nil {
			return nil, err
		}
		all = append(all, types.NamespacedName{Namespace: c.namespace, Name: name})
	}
	if !t.files.given() {
		return all, nil
	}
	objects, err := t.files.submissions(ctx, s)
	for _, object := range objects {
		if object.Namespace == "" {
			object.Namespace = c.namespace
		}
		if object.Name == "" {
			if object.Name, err = v1alpha1.NameForKey(object.Key()); err != nil {
				return nil, err
			}
		}
		all = append(all, client.ObjectKeyFromObject(object))
	}
	if err == nil && len(all) == 0 {
		err = errors.New("the files hold no TaskSubmission")
	}
	return all, err
}

// submissionNamed takes NAME, tasksubmission/NAME and what -o name prints.
func submissionNamed(arg string) (string, error) {
	kind, name, ok := strings.Cut(arg, "/")
	if !ok {
		return arg, nil
	}
	switch kind {
	case "tasksubmission", "tasksubmissions", "tsub", "tasksubmission.taskonce.dev", "tasksubmissions.taskonce.dev":
		return name, nil
	default:
		return "", fmt.Errorf("%q is no TaskSubmission", arg)
	}
}

// selected returns those that the selectors find.
func (t *targets) selected(ctx context.Context, c *cluster) ([]v1alpha1.TaskSubmission, error) {
	options := &client.ListOptions{Namespace: c.namespace}
	if t.everywhere {
		options.Namespace = ""
	}
	var err error
	if options.LabelSelector, err = labels.Parse(t.selector); err != nil {
		return nil, err
	}
	if options.FieldSelector, err = fields.ParseSelector(t.fieldSelector); err != nil {
		return nil, err
	}
	list := &v1alpha1.TaskSubmissionList{}
	err = c.api.List(ctx, list, options)
	return list.Items, err
}
