package cli

import (
	"strings"
	"testing"
)

const rendersAll = `
apiVersion: taskonce.dev/v1alpha1
kind: TaskTemplate
metadata: {name: charge, namespace: shop}
spec:
  parametersSchema:
    openAPIV3Schema:
      type: object
      required: [order]
      properties:
        order: {type: string}
        amount: {type: integer}
  idempotencyKey: "${key('charge', params.order)}"
  businessKey: "${params.order}"
  effect:
    http:
      url: "https://pay.example/orders/${params.order}"
      headers:
      - {name: X-Api-Key, valueFrom: {secretKeyRef: {name: pay, key: token}}}
      - {name: X-Attempt, value: "no ${attempt}"}
      body: {amount: "${params.amount}", text: "Order ${params.order}", literal: "$${x}", list: [1, "${submission.businessKey}"]}
      classify: [{when: "${response.status == 409}", outcome: Applied}]
      result: "${response.body.id}"
  verification:
    http: {url: "https://pay.example/charges?key=${submission.downstreamKey}"}
    classify: [{when: "${response.status == 200}", outcome: Applied}]
`

func TestRender(t *testing.T) {
	path := t.TempDir() + "/template.yaml"
	write(t, path, rendersAll)
	out, complaints, code := at("", "render", "-f", path, "-p", "order=a/7", "-p", "amount:=12", "--attempt=3")
	if code != 0 || complaints != "" {
		t.Fatalf("%d: %s", code, complaints)
	}
	golden(t, "render", out)
	if out, _, _ := at("", "render", "-f", path, "-p", "order=a/7", "-p", "amount:=12", "-o", "json"); !strings.HasPrefix(out, "{\n") {
		t.Errorf("JSON: %s", out)
	}
}

// TestRenderGoesByThePlace: what a body or a pod calls its members means nothing, and only what the operator evaluates is
// evaluated.
func TestRenderGoesByThePlace(t *testing.T) {
	const head = "apiVersion: taskonce.dev/v1alpha1\nkind: TaskTemplate\nmetadata: {name: t, namespace: shop}\nspec:\n  effect: "
	path := t.TempDir() + "/template.yaml"
	for _, test := range []struct{ reason, effect, want string }{
		{"members of a body",
			`{http: {url: "https://a.example/", body: {url: "${params.a}", result: "${params.a}", classify: ["${params.a}"], secretKeyRef: {name: "${params.a}"}, secret: {secretKeyRef: {name: s, key: k}}}}}`,
			`"body":{"classify":["b/c"],"result":"b/c","secret":{"secretKeyRef":{"key":"k","name":"s"}},"secretKeyRef":{"name":"b/c"},"url":"b/c"}`},
		{"a query that has the result", `{sql: {dialect: PostgreSQL, dsn: {secretKeyRef: {name: s, key: k}}, statements: [{sql: "SELECT '${x}', $1", args: ["${params.n}"]}], result: {sql: "SELECT $1", args: ["no ${params.n}"]}}}`,
			`"result":{"args":["no 12"],"sql":"SELECT $1"},"statements":[{"args":[12],"sql":"SELECT '${x}', $1"}]`},
		{"a pod", `{job: {template: {spec: {template: {spec: {containers: [{name: c, image: i, command: ["${params.a}"], args: ["${params.n}"], env: [{name: A, value: "$${x}"}, {name: B, valueFrom: {secretKeyRef: {name: s, key: k}}}]}]}}}}}}`,
			`"args":["12"],"command":["b/c"],"env":[{"name":"A","value":"${x}"},{"name":"B","valueFrom":{"secretKeyRef":{"key":"k","name":"s"}}}]`},
	} {
		write(t, path, head+test.effect)
		out, complaints, code := at("", "render", "-f", path, "-p", "a=b/c", "-p", "n:=12", "-o", "json")
		if code != 0 || !strings.Contains(oneLine([]byte(out)), test.want) {
			t.Errorf("%s: %d, %s\n%s", test.reason, code, complaints, oneLine([]byte(out)))
		}
	}
	write(t, path, head+`{http: {url: "https://a.example/${attempt}"}}`)
	if _, complaints, code := at("", "render", "-f", path); code != 1 || !strings.Contains(complaints, "spec.effect.http.url: ") {
		t.Errorf("what the operator refuses: %d, %s", code, complaints)
	}
}

// TestRenderAsksForTheKey where what would be sent depends on it: never is it shown with an empty one.
func TestRenderAsksForTheKey(t *testing.T) {
	const asks = "error: spec.effect.http.url: it depends on the submission's key, and the template makes none of the parameters: give --key\n"
	path := t.TempDir() + "/template.yaml"
	for _, test := range []struct {
		expression, key string
		code            int
		out, says       string
	}{
		{"submission.downstreamKey", "", 1, "", asks},
		{"submission.name", "", 1, "", asks},
		{"submission.key", "", 1, "", asks},
		{"submission.downstreamKey", "order:7", 0, "https://a.example/shop%2Forder-7-", ""},
		{"submission.key", "order:7", 0, "https://a.example/order%3A7", ""},
		{"submission.namespace", "", 0, "https://a.example/shop", ""},
		{"params.a", "", 1, "", "no such key: a"},
	} {
		write(t, path, `{apiVersion: taskonce.dev/v1alpha1, kind: TaskTemplate, metadata: {name: t, namespace: shop}, spec: {effect: {http: {url: "https://a.example/${`+test.expression+`}"}}}}`)
		out, complaints, code := at("", "render", "-f", path, "--key="+test.key)
		if code != test.code || !strings.Contains(out, test.out) || !strings.Contains(complaints, test.says) {
			t.Errorf("%s, with the key %q: %d, %s%s", test.expression, test.key, code, out, complaints)
		}
	}
}

func TestRenderKeepsTheDigitsOfWholeNumbers(t *testing.T) {
	path := t.TempDir() + "/template.yaml"
	write(t, path, strings.ReplaceAll(rendersAll, "list: [1,", "list: [9007199254740993,"))
	for _, format := range []string{"yaml", "json"} {
		if out, complaints, _ := at("", "render", "-f", path, "-p", "order=7", "-p", "amount:=9007199254740993", "-o", format); strings.Count(out, "9007199254740993") != 2 {
			t.Errorf("%s: %s%s", format, out, complaints)
		}
	}
}

func TestRenderSaysWhatIsWrong(t *testing.T) {
	path := t.TempDir() + "/template.yaml"
	for _, test := range []struct {
		reason, template string
		args             []string
		says             string
	}{
		{"parameters that the schema refuses", rendersAll, nil, "order"},
		{"another key than the template makes", rendersAll, []string{"-p", "order=7", "-p", "amount:=1", "--key", "x"}, `the key "charge:7"`},
		{"an expression that does not compile", strings.ReplaceAll(rendersAll, "Order ${params.order}", "${params.ordre}"), []string{"-p", "order=7", "-p", "amount:=1"}, "spec.effect.http.body: text: "},
		{"a value that leaves the path", rendersAll, []string{"-p", "order=..", "-p", "amount:=1"}, "spec.effect.http.url: "},
		{"a key that cannot be one", rendersAll, []string{"-p", "order= ", "-p", "amount:=1"}, "white space"},
		{"a schema that is none", strings.ReplaceAll(rendersAll, "type: integer", "type: nonsense"), []string{"-p", "order=7"}, "spec.parametersSchema: "},
		{"another kind", strings.ReplaceAll(rendersAll, "kind: TaskTemplate", "kind: TaskDecision"), nil, "exactly one TaskTemplate"},
		{"a misspelt field", strings.ReplaceAll(rendersAll, "businessKey:", "bizKey:"), nil, `unknown field "spec.bizKey"`},
		{"no such format", rendersAll, []string{"-p", "order=7", "-p", "amount:=1", "-o", "name"}, "allowed formats are: json,yaml"},
		{"two sources", rendersAll, []string{"charge"}, "exactly one TEMPLATE"},
	} {
		write(t, path, test.template)
		if _, complaints, code := at("", append([]string{"render", "-f", path}, test.args...)...); code != 1 || !strings.Contains(complaints, test.says) {
			t.Errorf("%s: %d, %s", test.reason, code, complaints)
		}
	}
}
