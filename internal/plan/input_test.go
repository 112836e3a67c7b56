package plan

import (
	"strings"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

func TestCheckInput(t *testing.T) {
	p := mustCompile(t)
	const key = "award:42:stu-7"
	name, err := v1alpha1.NameForKey(key)
	if err != nil {
		t.Fatal(err)
	}
	right := func() *v1alpha1.TaskSubmission {
		s := submission(`{"taskId": 42, "student": "stu-7"}`)
		s.Name, s.Spec.IdempotencyKey = name, key
		return s
	}
	if business, problem := InputOf(right()).Check(p); problem != nil || business != "42/stu-7" {
		t.Errorf("the right one: %q, %v", business, problem)
	}
	for _, tt := range []struct {
		name      string
		change    func(*v1alpha1.TaskSubmission)
		reason    v1alpha1.Reason
		field     string
		message   string
		whichever bool // no template is needed to tell
	}{
		{"another name", func(s *v1alpha1.TaskSubmission) { s.Name = "other" }, v1alpha1.ReasonInvalidName, "metadata.name", name, true},
		{"a key that is none", func(s *v1alpha1.TaskSubmission) { s.Spec.IdempotencyKey = "a\nb" }, v1alpha1.ReasonInvalidName, "metadata.name", "control character", true},
		{"too large", func(s *v1alpha1.TaskSubmission) {
			s.Spec.Parameters.Raw = []byte(`{"student": "` + strings.Repeat("x", maxParameters) + `"}`)
		}, v1alpha1.ReasonInvalidParameters, "spec.parameters", "store what is large elsewhere", true},
		{"no JSON", func(s *v1alpha1.TaskSubmission) { s.Spec.Parameters.Raw = []byte(`{`) }, v1alpha1.ReasonInvalidParameters, "spec.parameters", "JSON", true},
		{"not in the schema", func(s *v1alpha1.TaskSubmission) { s.Spec.Parameters.Raw = []byte(`{"taskId": "x"}`) }, v1alpha1.ReasonInvalidParameters, "spec.parameters", "params.taskId", false},
		{"no key of it", func(s *v1alpha1.TaskSubmission) { s.Spec.Parameters.Raw = []byte(`{"taskId": 42}`) }, v1alpha1.ReasonInvalidParameters, "spec.parameters", "idempotencyKey", false},
		{"another key of it", func(s *v1alpha1.TaskSubmission) {
			s.Spec.Parameters.Raw = []byte(`{"taskId": 43, "student": "stu-7"}`)
		}, v1alpha1.ReasonKeyMismatch, "spec.idempotencyKey", `"award:43:stu-7"`, false},
	} {
		s := right()
		tt.change(s)
		_, problem := InputOf(s).Check(p)
		if problem == nil || problem.Reason != tt.reason || problem.Field != tt.field || !strings.Contains(problem.Message, tt.message) {
			t.Errorf("%s: %+v", tt.name, problem)
		}
		if _, problem := InputOf(s).Check(nil); (problem != nil) != tt.whichever {
			t.Errorf("%s, without a template: %+v", tt.name, problem)
		}
	}
}
