package plan

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

const taskSchema = `{"type":"object","properties":{"student":{"type":"string"},"points":{"type":"integer"}}}`

func accessOf(t *testing.T, access string) (*Access, error) {
	t.Helper()
	template := &v1alpha1.TaskTemplate{}
	template.Spec.Access = access
	template.Spec.ParametersSchema = &v1alpha1.ParametersSchema{OpenAPIV3Schema: apiextensionsv1.JSON{Raw: []byte(taskSchema)}}
	return AccessOf(template)
}

func TestAccess(t *testing.T) {
	for _, test := range []struct {
		reason, access string
		claims         map[string]any
		allowed        bool
	}{
		{"no expression: everybody", "", nil, true},
		{"the same person", "claims.sub == params.student", map[string]any{"sub": "stu-7"}, true},
		{"another person", "claims.sub == params.student", map[string]any{"sub": "stu-8"}, false},
		{"a claim that is missing allows nothing", "claims.student == params.student", map[string]any{"sub": "stu-7"}, false},
		{"a claim of another type", "claims.sub == params.student", map[string]any{"sub": int64(7)}, false},
		{"a claim that may be missing", "claims.?role.orValue('') == 'teacher' || claims.sub == params.student", map[string]any{"sub": "stu-7"}, true},
		{"a list", "'teacher' in claims.roles", map[string]any{"roles": []any{"teacher"}}, true},
		{"a brace of its own", "{'a': claims.sub}['a'] == 'stu-7'", map[string]any{"sub": "stu-7"}, true},
	} {
		access, err := accessOf(t, test.access)
		if err != nil {
			t.Fatalf("%s: %v", test.reason, err)
		}
		if err := access.Allows(test.claims, []byte(`{"student":"stu-7","points":10}`)); (err == nil) != test.allowed {
			t.Errorf("%s: %v", test.reason, err)
		}
	}
}

func TestAccessThatDoesNotCompile(t *testing.T) {
	for _, test := range []struct{ access, says string }{
		{"claims.sub == params.studentId", "spec.access"},
		{"params.student", "must be true or false"},
		{"submission.name == claims.sub", "cannot be used here"},
		{"${claims.sub == params.student}", "spec.access"},
		{"true} and {", "spec.access"},
	} {
		if _, err := accessOf(t, test.access); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", test.access, err)
		}
	}
}

func TestClaimsAreForAccessAlone(t *testing.T) {
	template := &v1alpha1.TaskTemplate{}
	template.Spec.BusinessKey = "${claims.sub}"
	template.Spec.Access = "params"
	_, faults := Compile(template, compilers)
	if len(faults) < 2 || !strings.Contains(faults.ToAggregate().Error(), "spec.businessKey") || !strings.Contains(faults.ToAggregate().Error(), "spec.access") {
		t.Errorf("%v", faults)
	}
}
