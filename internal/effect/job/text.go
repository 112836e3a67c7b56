package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/taskonce/taskonce/internal/expr"
)

// text is a string of the pod template that holds expressions.
type text struct {
	compiled *expr.Text
	in       func(*corev1.PodSpec) *string
	path     string
}

// places returns each string in which expressions may stand: a submitter supplies values, never a pod's specification.
func places(pod *corev1.PodSpec) []text {
	var all []text
	for _, list := range []struct {
		name string
		of   func(*corev1.PodSpec) []corev1.Container
	}{
		{"initContainers", func(pod *corev1.PodSpec) []corev1.Container { return pod.InitContainers }},
		{"containers", func(pod *corev1.PodSpec) []corev1.Container { return pod.Containers }},
	} {
		for i, container := range list.of(pod) {
			at := fmt.Sprintf("%s[%d]", list.name, i)
			for j := range container.Command {
				all = append(all, text{path: fmt.Sprintf("%s.command[%d]", at, j), in: func(pod *corev1.PodSpec) *string { return &list.of(pod)[i].Command[j] }})
			}
			for j := range container.Args {
				all = append(all, text{path: fmt.Sprintf("%s.args[%d]", at, j), in: func(pod *corev1.PodSpec) *string { return &list.of(pod)[i].Args[j] }})
			}
			for j := range container.Env {
				all = append(all, text{path: fmt.Sprintf("%s.env[%d].value", at, j), in: func(pod *corev1.PodSpec) *string { return &list.of(pod)[i].Env[j].Value }})
			}
		}
	}
	return all
}

// texts compiles the strings in which expressions may stand. Those without any are put into the pod as they come out.
func texts(path *field.Path, pod *corev1.PodSpec, env *expr.Env) ([]text, field.ErrorList) {
	var found []text
	var faults field.ErrorList
	for _, place := range places(pod) {
		source := place.in(pod)
		compiled, err := env.Text(*source, expr.Params|expr.Submission)
		if err != nil {
			faults = append(faults, field.Invalid(path.Child(place.path), *source, err.Error()+" (a shell's own ${…} is written $${…})"))
			continue
		}
		if constant, ok := compiled.Constant(); ok {
			*source = constant
			continue
		}
		place.compiled = compiled
		found = append(found, place)
	}
	return found, faults
}

// strayExpressions refuses expressions where none may stand: there they would be taken literally.
func strayExpressions(path *field.Path, template *batchv1.JobTemplateSpec) field.ErrorList {
	rest := template.DeepCopy()
	pod := &rest.Spec.Template.Spec
	for _, place := range places(pod) {
		*place.in(pod) = ""
	}
	raw, err := json.Marshal(rest)
	var tree any
	if err == nil {
		err = json.Unmarshal(raw, &tree)
	}
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	return stray(path, tree)
}

func stray(path *field.Path, value any) field.ErrorList {
	var faults field.ErrorList
	switch value := value.(type) {
	case string:
		if strings.Contains(value, "${") {
			faults = append(faults, field.Invalid(path, value, "expressions may stand in command, args and the value of env only: a submission supplies values, never a pod's specification"))
		}
	case []any:
		for i := range value {
			faults = append(faults, stray(path.Index(i), value[i])...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			faults = append(faults, stray(path.Child(name), value[name])...)
		}
	}
	return faults
}

// maxValue is what a container can be started with: Linux takes 128 KiB for one argument or variable, name included.
const maxValue = 120 << 10

// fill evaluates the texts into a pod.
func (r *run) fill(pod *corev1.PodSpec, in expr.Input) error {
	for _, text := range r.texts {
		value, err := text.compiled.Escaped(in, literal)
		if err == nil {
			err = startable(value)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", text.path, err)
		}
		*text.in(pod) = value
	}
	return nil
}

// literal protects a value from Kubernetes' own expansion: $(NAME) in it would come to the value of another variable,
// such as a Secret's.
func literal(value string) string { return strings.ReplaceAll(value, "$", "$$") }

// startable returns why no container can be started with a value.
func startable(value string) error {
	switch {
	case len(value) > maxValue:
		return fmt.Errorf("has %d bytes, and a container takes at most %d in one string: store what is large elsewhere, and pass its address", len(value), maxValue)
	case strings.ContainsRune(value, 0):
		return errors.New("holds a NUL character, which no container takes")
	}
	return nil
}
