package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// rendering is the command render.
type rendering struct {
	*session
	file    string
	key     string
	attempt int32
	params  parameters
	format  string
}

func newRender(s *session) *cobra.Command {
	o := &rendering{session: s}
	command := &cobra.Command{
		Use: "render TEMPLATE [-p NAME=TEXT]... | render -f FILE", GroupID: groupLook,
		Short: "Show what a template makes of parameters: keys, requests, statements; nothing is sent",
		Long: `Show what a template makes of parameters: the keys, and the effect and the verification with every expression evaluated. Nothing
is sent, and no Secret is read: where one is used, its name is shown. What depends on an answer stays as it is written.
With -f the template comes from a file, and no cluster is needed.`,
		Example: `# What the template in the cluster would send
kubectl taskonce render award-points -p taskId:=42 -p studentId=stu-7 -p submitVersion:=3 -p points:=10

# While a template is being written
kubectl taskonce render -f template.yaml --parameters='{orderId: "1001"}'`,
		RunE: func(command *cobra.Command, args []string) error {
			if (len(args) == 1) == (o.file != "") || len(args) > 1 {
				return usage(command, "exactly one TEMPLATE, or -f FILE, is needed")
			}
			template, err := o.template(command.Context(), args)
			if err != nil {
				return err
			}
			params, err := o.params.JSON()
			if err != nil {
				return err
			}
			rendered, err := render(template, params, o.key, o.attempt)
			if err != nil {
				return err
			}
			return writeRendered(s.Out, o.format, rendered)
		},
		ValidArgsFunction: s.completeTemplates,
	}
	flags := command.Flags()
	flags.StringVarP(&o.file, "filename", "f", "", "A file with the TaskTemplate; - is standard input.")
	flags.StringVar(&o.key, "key", "", "The idempotency key of the submission. It is needed where the template makes none, and what is shown depends on it.")
	flags.Int32Var(&o.attempt, "attempt", 1, "The number of the attempt.")
	flags.StringVarP(&o.format, "output", "o", "yaml", "Output format. One of: (json, yaml).")
	o.params.addFlags(flags)
	return command
}

func (o *rendering) template(ctx context.Context, args []string) (*v1alpha1.TaskTemplate, error) {
	template := &v1alpha1.TaskTemplate{}
	if o.file != "" {
		if err := o.read(ctx, template); err != nil || template.Namespace != "" {
			return template, err
		}
		var err error
		template.Namespace, _, err = o.flags.ToRawKubeConfigLoader().Namespace()
		return template, err
	}
	c, err := o.connect()
	if err != nil {
		return nil, err
	}
	return template, c.api.Get(ctx, types.NamespacedName{Namespace: c.namespace, Name: args[0]}, template)
}

func (o *rendering) read(ctx context.Context, template *v1alpha1.TaskTemplate) error {
	infos, err := (&files{names: []string{o.file}}).infos(ctx, o.session)
	if err != nil {
		return err
	}
	var found []*unstructured.Unstructured
	for _, info := range infos {
		if object, ok := info.Object.(*unstructured.Unstructured); ok && object.GroupVersionKind() == v1alpha1.GroupVersion.WithKind("TaskTemplate") {
			found = append(found, object)
		}
	}
	if len(found) != 1 {
		return fmt.Errorf("%s: must hold exactly one TaskTemplate, and holds %d", o.file, len(found))
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(found[0].Object, template, true)
}

func writeRendered(w io.Writer, format string, rendered *rendered) error {
	raw, err := json.MarshalIndent(rendered, "", "    ")
	if err != nil {
		return err
	}
	switch format {
	case "json":
		raw = append(raw, '\n')
	case "yaml":
		if raw, err = yaml.JSONToYAML(raw); err != nil {
			return err
		}
	default:
		return errors.New(`unable to match a printer suitable for the output format "` + format + `", allowed formats are: json,yaml`)
	}
	_, err = w.Write(raw)
	return err
}
