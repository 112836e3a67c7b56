package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// output is what -o and its companions say.
type output struct{ flags *genericclioptions.PrintFlags }

func newOutput() *output { return &output{flags: genericclioptions.NewPrintFlags("")} }

func (o *output) addFlags(command *cobra.Command) { o.flags.AddFlags(command) }

// human reports whether a person reads it, so that it is said in words.
func (o *output) human() bool {
	template := o.flags.TemplatePrinterFlags.TemplateArgument
	return *o.flags.OutputFormat == "" && (template == nil || *template == "")
}

// check says early that there is no such format.
func (o *output) check() error {
	if o.human() {
		return nil
	}
	_, err := o.flags.ToPrinter()
	return err
}

// print prints one object as it is, and several as a List.
func (o *output) print(w io.Writer, objects ...client.Object) error {
	if len(objects) == 1 {
		object, err := untyped(objects[0])
		if err != nil {
			return err
		}
		printer, err := o.flags.ToPrinter()
		if err != nil {
			return err
		}
		return printer.PrintObj(object, w)
	}
	return o.printList(w, objects)
}

// printAll prints what is there, where it is not said in words.
func (o *output) printAll(w io.Writer, objects []client.Object) error {
	if o.human() || len(objects) == 0 {
		return nil
	}
	return o.print(w, objects...)
}

// printList prints a List, however many there are.
func (o *output) printList(w io.Writer, objects []client.Object) error {
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{}}}
	for _, typed := range objects {
		object, err := untyped(typed)
		if err != nil {
			return err
		}
		list.Items = append(list.Items, *object)
	}
	printer, err := o.flags.ToPrinter()
	if err != nil {
		return err
	}
	return printer.PrintObj(list, w)
}

// untyped returns an object that knows its kind, as every printer needs it.
func untyped(object client.Object) (*unstructured.Unstructured, error) {
	kind, err := apiutil.GVKForObject(object, scheme)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	result := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(raw, &result.Object); err != nil {
		return nil, err
	}
	result.SetGroupVersionKind(kind)
	return result, nil
}

// table writes rows with aligned columns, as kubectl does.
func table(w io.Writer, write func(row func(cells ...any))) error {
	aligned := tabwriter.NewWriter(w, 6, 4, 3, ' ', 0)
	write(func(cells ...any) {
		for i, cell := range cells {
			if i > 0 {
				fmt.Fprint(aligned, "\t")
			}
			fmt.Fprint(aligned, cell)
		}
		fmt.Fprintln(aligned)
	})
	return aligned.Flush()
}

// titled is what a line of output begins with.
func titled(name string) string { return "tasksubmission.taskonce.dev/" + name }

// standing is phase and reason in one word.
func standing(submission *v1alpha1.TaskSubmission) string {
	if submission.Status.Reason == "" {
		return string(submission.Status.Phase)
	}
	return fmt.Sprintf("%s/%s", submission.Status.Phase, submission.Status.Reason)
}

// oneLine returns JSON without line breaks.
func oneLine(raw []byte) string {
	canonical, err := v1alpha1.CanonicalJSON(raw)
	if err != nil {
		return string(raw)
	}
	return string(canonical)
}
