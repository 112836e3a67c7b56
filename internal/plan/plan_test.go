package plan

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/expr"
)

// nothing is an effect that does nothing.
type nothing struct{ url *expr.URL }

func (nothing) Execute(context.Context, effect.Attempt) (effect.Outcome, error) {
	return effect.Outcome{Kind: v1alpha1.OutcomeApplied}, nil
}

// compileNothing compiles the URL only.
func compileNothing(namespace string, spec *v1alpha1.TaskTemplateSpec, env *expr.Env) (effect.Effect, effect.Traits, field.ErrorList) {
	url, err := env.URL(spec.Effect.HTTP.URL, expr.Params)
	if err != nil {
		return nil, effect.Traits{}, field.ErrorList{field.Invalid(field.NewPath("spec", "effect", "http", "url"), spec.Effect.HTTP.URL, err.Error())}
	}
	return nothing{url}, effect.Traits{Timeout: time.Duration(len(namespace)) * time.Second}, nil
}

var compilers = effect.Compilers{HTTP: compileNothing}

const schema = `{"type": "object", "required": ["taskId"], "properties": {"taskId": {"type": "integer"}, "student": {"type": "string"}}}`

// template returns one that compiles, changed.
func template(changes ...func(*v1alpha1.TaskTemplateSpec)) *v1alpha1.TaskTemplate {
	t := &v1alpha1.TaskTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "award-points"},
		Spec: v1alpha1.TaskTemplateSpec{
			ParametersSchema: &v1alpha1.ParametersSchema{OpenAPIV3Schema: apiextensionsv1.JSON{Raw: []byte(schema)}},
			IdempotencyKey:   "${key('award', params.taskId, params.student)}",
			BusinessKey:      "${params.taskId}/${params.student}",
			Effect:           v1alpha1.Effect{HTTP: &v1alpha1.HTTPEffect{HTTPRequest: v1alpha1.HTTPRequest{URL: "https://points.example/${params.taskId}"}}},
			Retry:            v1alpha1.Retry{InitialDelay: metav1.Duration{Duration: time.Second}, MaxDelay: metav1.Duration{Duration: time.Minute}},
		},
	}
	for _, change := range changes {
		change(&t.Spec)
	}
	return t
}

func mustCompile(t testing.TB, changes ...func(*v1alpha1.TaskTemplateSpec)) *Plan {
	t.Helper()
	p, faults := Compile(template(changes...), compilers)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return p
}

func submission(parameters string) *v1alpha1.TaskSubmission {
	return &v1alpha1.TaskSubmission{Spec: v1alpha1.TaskSubmissionSpec{Parameters: apiextensionsv1.JSON{Raw: []byte(parameters)}}}
}

func withoutSchema(s *v1alpha1.TaskTemplateSpec) { s.ParametersSchema = nil }

func withoutKeys(s *v1alpha1.TaskTemplateSpec) { s.IdempotencyKey, s.BusinessKey = "", "" }

func TestCompile(t *testing.T) {
	p := mustCompile(t)
	if _, ok := p.Effect.(nothing); !ok {
		t.Errorf("the effect is %T", p.Effect)
	}
	if p.Traits.Timeout != 4*time.Second {
		t.Errorf("the compiler did not get the namespace: %v", p.Traits)
	}
}

func TestEveryFaultIsReportedAtItsField(t *testing.T) {
	for _, c := range []struct {
		reason string
		change func(*v1alpha1.TaskTemplateSpec)
		fields []string
		words  string
	}{
		{"the schema", func(s *v1alpha1.TaskTemplateSpec) {
			s.ParametersSchema.OpenAPIV3Schema.Raw = []byte(`{"type": "string"}`)
		},
			[]string{"spec.parametersSchema.openAPIV3Schema"}, "must be object"},
		{"an empty schema", func(s *v1alpha1.TaskTemplateSpec) { s.ParametersSchema.OpenAPIV3Schema.Raw = nil },
			[]string{"spec.parametersSchema.openAPIV3Schema"}, "no JSON"},
		{"the idempotency key", func(s *v1alpha1.TaskTemplateSpec) { s.IdempotencyKey = "${params.nope}" },
			[]string{"spec.idempotencyKey"}, "undefined field 'nope'"},
		{"the business key", func(s *v1alpha1.TaskTemplateSpec) { s.BusinessKey = "${params.taskId" },
			[]string{"spec.businessKey"}, "no closing }"},
		{"a key that is the same for all", func(s *v1alpha1.TaskTemplateSpec) { s.BusinessKey = "{params.taskId}" },
			[]string{"spec.businessKey"}, "every submission would have the same key"},
		{"keys see the parameters only", func(s *v1alpha1.TaskTemplateSpec) {
			s.IdempotencyKey, s.BusinessKey = "${submission.name}", "${attempt}"
		},
			[]string{"spec.idempotencyKey", "spec.businessKey"}, "the variables here are: params"},
		{"the effect", func(s *v1alpha1.TaskTemplateSpec) { s.Effect.HTTP.URL = "https://${params.student}/" },
			[]string{"spec.effect.http.url"}, "scheme, host and user"},
		{"no effect", func(s *v1alpha1.TaskTemplateSpec) { s.Effect.HTTP = nil },
			[]string{"spec.effect"}, "http"},
		{"delays", func(s *v1alpha1.TaskTemplateSpec) { s.Retry.InitialDelay.Duration = time.Minute + 1 },
			[]string{"spec.retry.initialDelay"}, "maxDelay, which is 1m0s"},
		{"an approval that is not asked for", func(s *v1alpha1.TaskTemplateSpec) { s.Approval = &v1alpha1.Approval{DistinctFromSubmitter: true} },
			[]string{"spec.approval.distinctFromSubmitter"}, "approval.required"},
		{"a conflict of no key", func(s *v1alpha1.TaskTemplateSpec) { s.BusinessKey, s.OnBusinessKeyConflict = "", v1alpha1.FailConflict },
			[]string{"spec.onBusinessKeyConflict"}, "set businessKey"},
		{"all at once", func(s *v1alpha1.TaskTemplateSpec) {
			s.Retry.InitialDelay.Duration = time.Hour
			s.IdempotencyKey, s.BusinessKey, s.Effect.HTTP.URL = "${a}", "${b}", "${c}"
		}, []string{"spec.retry.initialDelay", "spec.idempotencyKey", "spec.businessKey", "spec.effect.http.url"}, "undeclared reference"},
		{"a schema that does not compile hides the expressions, not the policies", func(s *v1alpha1.TaskTemplateSpec) {
			s.ParametersSchema.OpenAPIV3Schema.Raw = []byte(`{}`)
			s.Retry.InitialDelay.Duration = time.Hour
			s.BusinessKey = "${params.nope}"
		}, []string{"spec.retry.initialDelay", "spec.parametersSchema.openAPIV3Schema"}, "type"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			p, faults := Compile(template(c.change), compilers)
			var fields []string
			for _, fault := range faults {
				fields = append(fields, fault.Field)
			}
			if p != nil || !slices.Equal(fields, c.fields) {
				t.Errorf("plan %v, faults at %q, want %q", p, fields, c.fields)
			}
			if err := faults.ToAggregate(); err == nil || !strings.Contains(err.Error(), c.words) {
				t.Errorf("the faults do not say %q: %v", c.words, err)
			}
		})
	}
}

func TestPoliciesThatAreFine(t *testing.T) {
	for reason, change := range map[string]func(*v1alpha1.TaskTemplateSpec){
		"equal delays":      func(s *v1alpha1.TaskTemplateSpec) { s.Retry.InitialDelay.Duration = time.Minute },
		"no delays":         func(s *v1alpha1.TaskTemplateSpec) { s.Retry = v1alpha1.Retry{} },
		"a default longest": func(s *v1alpha1.TaskTemplateSpec) { s.Retry.MaxDelay.Duration = 0 },
		"an approval": func(s *v1alpha1.TaskTemplateSpec) {
			s.Approval = &v1alpha1.Approval{Required: true, DistinctFromSubmitter: true}
		},
		"a conflict of keys":     func(s *v1alpha1.TaskTemplateSpec) { s.OnBusinessKeyConflict = v1alpha1.FailConflict },
		"returning the first":    func(s *v1alpha1.TaskTemplateSpec) { s.BusinessKey, s.OnBusinessKeyConflict = "", v1alpha1.ReturnFirst },
		"a constant, on purpose": func(s *v1alpha1.TaskTemplateSpec) { s.BusinessKey = "${'only-once'}" },
	} {
		t.Run(reason, func(t *testing.T) { mustCompile(t, change) })
	}
}

func TestNoCompilerAndNoEffect(t *testing.T) {
	if _, faults := Compile(template(), effect.Compilers{}); len(faults) != 1 || faults[0].Field != "spec.effect" {
		t.Errorf("without a compiler: %v", faults)
	}
	lazy := func(string, *v1alpha1.TaskTemplateSpec, *expr.Env) (effect.Effect, effect.Traits, field.ErrorList) {
		return nil, effect.Traits{}, nil
	}
	if p, faults := Compile(template(), effect.Compilers{HTTP: lazy}); p != nil || len(faults) != 1 {
		t.Errorf("a compiler that returns nothing: %v, %v", p, faults)
	}
}

func TestDigestIsOfEffectAndVerification(t *testing.T) {
	before := mustCompile(t).Digest
	if !strings.HasPrefix(before, "sha256:") {
		t.Fatalf("the digest is %q", before)
	}
	for _, c := range []struct {
		reason string
		same   bool
		change func(*v1alpha1.TaskTemplateSpec)
	}{
		{"again", true, func(*v1alpha1.TaskTemplateSpec) {}},
		{"policies", true, func(s *v1alpha1.TaskTemplateSpec) { s.Retry.MaxAttempts, s.Suspend = 9, true }},
		{"the schema", true, withoutSchema},
		{"the effect", false, func(s *v1alpha1.TaskTemplateSpec) { s.Effect.HTTP.URL += "/x" }},
		{"the receiver", false, func(s *v1alpha1.TaskTemplateSpec) { s.Effect.HTTP.Receiver.Idempotent = true }},
		{"verification", false, func(s *v1alpha1.TaskTemplateSpec) { s.Verification = &v1alpha1.Verification{} }},
	} {
		if after := mustCompile(t, c.change).Digest; (after == before) != c.same {
			t.Errorf("%s: %s, before %s", c.reason, after, before)
		}
	}
}

func TestDigestOfABodyIgnoresItsForm(t *testing.T) {
	body := func(raw string) func(*v1alpha1.TaskTemplateSpec) {
		return func(s *v1alpha1.TaskTemplateSpec) { s.Effect.HTTP.Body = &apiextensionsv1.JSON{Raw: []byte(raw)} }
	}
	if mustCompile(t, body(`{"a": 1, "b": 2}`)).Digest != mustCompile(t, body(`{"b":2,"a":1}`)).Digest {
		t.Error("the order of members makes a difference")
	}
	if mustCompile(t, body(`9007199254740993`)).Digest == mustCompile(t, body(`9007199254740992`)).Digest {
		t.Error("a digit makes no difference")
	}
	p, faults := Compile(template(body(`{`)), compilers)
	if p != nil || len(faults) != 1 || faults[0].Field != "spec.effect" {
		t.Errorf("a body that is no JSON: %v", faults)
	}
}

func TestValidateParameters(t *testing.T) {
	typed, free := mustCompile(t), mustCompile(t, withoutSchema)
	for _, c := range []struct {
		reason, raw         string
		typedFine, freeFine bool
	}{
		{"what the schema says", `{"taskId": 1}`, true, true},
		{"an unknown field", `{"taskId": 1, "x": 1}`, false, true},
		{"nothing is an empty object", ``, false, true},
		{"an empty object", `{}`, false, true},
		{"null", `null`, false, false},
		{"a list", `[]`, false, false},
		{"no JSON", `{`, false, false},
	} {
		if err := typed.ValidateParameters([]byte(c.raw)); (err == nil) != c.typedFine {
			t.Errorf("%s, with a schema: %v", c.reason, err)
		}
		if err := free.ValidateParameters([]byte(c.raw)); (err == nil) != c.freeFine {
			t.Errorf("%s, without a schema: %v", c.reason, err)
		}
	}
	if err := typed.ValidateParameters(nil); err == nil || !strings.Contains(err.Error(), "params.taskId") {
		t.Errorf("the error does not name the field: %v", err)
	}
}

func TestKeys(t *testing.T) {
	for _, c := range []struct {
		reason, parameters          string
		idempotencyKey, businessKey string
		change                      func(*v1alpha1.TaskTemplateSpec)
	}{
		{"both", `{"taskId": 9007199254740993, "student": "a:b"}`, "award:9007199254740993:a%3Ab", "9007199254740993/a:b", func(*v1alpha1.TaskTemplateSpec) {}},
		{"none", `{`, "", "", withoutKeys},
		{"the idempotency key alone", `{"taskId": 1, "student": "s"}`, "award:1:s", "", func(s *v1alpha1.TaskTemplateSpec) { s.BusinessKey = "" }},
		{"the business key alone", `{"taskId": 1, "student": "s"}`, "", "1/s", func(s *v1alpha1.TaskTemplateSpec) { s.IdempotencyKey = "" }},
		{"no parameters", ``, "", "x", func(s *v1alpha1.TaskTemplateSpec) {
			withoutSchema(s)
			s.IdempotencyKey, s.BusinessKey = "", "${has(params.y) ? 'y' : 'x'}"
		}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			idempotencyKey, businessKey, err := mustCompile(t, c.change).Keys(submission(c.parameters))
			if err != nil || idempotencyKey != c.idempotencyKey || businessKey != c.businessKey {
				t.Errorf("got %q, %q, %v", idempotencyKey, businessKey, err)
			}
		})
	}
}

func TestKeysThatCannotBe(t *testing.T) {
	for _, c := range []struct{ reason, idempotencyKey, businessKey, parameters, words string }{
		{"no value", "${params.student}", "", `{"taskId": 1}`, "idempotencyKey: the expression"},
		{"no value of the second", "", "${params.student}", `{"taskId": 1}`, "businessKey: the expression"},
		{"empty", "", "${params.student}", `{"student": ""}`, "businessKey: the key is empty"},
		{"too long", "", "${params.student}", `{"student": "` + strings.Repeat("x", 513) + `"}`, "at most 512"},
		{"a control character", "${params.student}", "", `{"student": "a\nb"}`, "idempotencyKey: the key has the control character"},
		{"no scalar", "", "${params}", `{}`, "scalar"},
		{"no object", "", "${params.taskId}", `[]`, "must be a JSON object"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			p := mustCompile(t, func(s *v1alpha1.TaskTemplateSpec) { s.IdempotencyKey, s.BusinessKey = c.idempotencyKey, c.businessKey })
			idempotencyKey, businessKey, err := p.Keys(submission(c.parameters))
			if err == nil || !strings.Contains(err.Error(), c.words) || idempotencyKey+businessKey != "" {
				t.Errorf("got %q, %q, %v; the error should say %q", idempotencyKey, businessKey, err, c.words)
			}
		})
	}
}

func TestConcurrentUse(t *testing.T) {
	p := mustCompile(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				if err := p.ValidateParameters([]byte(`{"taskId": 1, "student": "s"}`)); err != nil {
					t.Error(err)
				}
				if _, key, err := p.Keys(submission(`{"taskId": 1, "student": "s"}`)); err != nil || key != "1/s" {
					t.Errorf("got %q, %v", key, err)
				}
			}
		})
	}
	group.Wait()
}
