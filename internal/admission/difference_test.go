package admission

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

func TestDifferingNamesFieldsAndNoValues(t *testing.T) {
	spec := func(template, parameters string) *v1alpha1.TaskSubmissionSpec {
		return &v1alpha1.TaskSubmissionSpec{TemplateRef: v1alpha1.TemplateRef{Name: template}, Parameters: apiextensionsv1.JSON{Raw: []byte(parameters)}}
	}
	var many []string
	for i := range 50 {
		many = append(many, fmt.Sprintf(`"f%02d":%d`, i, i))
	}
	deep := strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)
	for _, tt := range []struct {
		a, b   *v1alpha1.TaskSubmissionSpec
		want   []string
		reason string
	}{
		{spec("t", `{"a":1,"b":2}`), spec("t", `{"b":2, "a":1}`), nil, "order and white space are no difference"},
		{spec("t", ``), spec("t", `{}`), nil, "absent is empty"},
		{spec("t", `{"a":9007199254740993}`), spec("t", `{"a":9007199254740992}`), []string{"spec.parameters.a"}, "every digit counts"},
		{spec("t", `{}`), spec("u", `{}`), []string{"spec.templateRef.name"}, "another template"},
		{spec("t", `{"a":{"b":1,"c":1}}`), spec("t", `{"a":{"b":1,"c":2}}`), []string{"spec.parameters.a.c"}, "the innermost field"},
		{spec("t", `{"a":null}`), spec("t", `{}`), []string{"spec.parameters.a"}, "null is not absent"},
		{spec("t", `{"a":[1,{"b":1}]}`), spec("t", `{"a":[1,{"b":2}]}`), []string{"spec.parameters.a"}, "a list is one field"},
		{spec("t", `[1]`), spec("t", `{}`), []string{"spec.parameters"}, "no object"},
	} {
		if got := differing(tt.a, tt.b); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.reason, got, tt.want)
		}
	}
	if got := differing(spec("t", `{}`), spec("t", "{"+strings.Join(many, ",")+"}")); len(got) != maxDifferences+1 || got[maxDifferences] != "…" {
		t.Errorf("many differences: %q", got)
	}
	if got := differing(spec("t", deep), spec("t", strings.ReplaceAll(deep, "1", "2"))); len(got) != 1 || len(got[0]) > 2*maxFieldName {
		t.Errorf("a deep difference: %q", got)
	}
	if got := differing(spec("t", `{}`), spec("t", `{"`+strings.Repeat("x", 500)+`":1}`)); len(got) != 1 || len(got[0]) > 2*maxFieldName {
		t.Errorf("a long name: %q", got)
	}
}
