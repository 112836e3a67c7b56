package expr

import (
	"reflect"
	"strings"
	"testing"
)

func TestScan(t *testing.T) {
	for _, c := range []struct {
		reason, text string
		want         []string // expressions are written «…»
	}{
		{"nothing", "", nil},
		{"a literal", "a $ b { c } d", []string{"a $ b { c } d"}},
		{"an expression", "${a}", []string{"«a»"}},
		{"text around", "x${a}y${b}z", []string{"x", "«a»", "y", "«b»", "z"}},
		{"an escape", "$${a}", []string{"${a}"}},
		{"an escape between", "${a}$${b}${c}", []string{"«a»", "${b}", "«c»"}},
		{"a dollar before an escape", "$$${a}", []string{"$${a}"}},
		{"a dollar at the end", "a$", []string{"a$"}},
		{"nested braces", "${{'a': {'b': 1}}}", []string{"«{'a': {'b': 1}}»"}},
		{"a brace in a string", `${"}"}`, []string{`«"}"»`}},
		{"a brace in the other string", `${'}'}`, []string{`«'}'»`}},
		{"the other quote in a string", `${"'}"}`, []string{`«"'}"»`}},
		{"an escaped quote", `${"\"}"}`, []string{`«"\"}"»`}},
		{"an escaped backslash ends before the quote", `${"\\"}`, []string{`«"\\"»`}},
		{"a raw string has no escapes", `${r"\"}`, []string{`«r"\"»`}},
		{"so have raw bytes", `${bR'\'}`, []string{`«bR'\'»`}},
		{"a word that ends in r is no raw string", `${xr"\"}"}`, []string{`«xr"\"}"»`}},
		{"three quotes", `${"""a"}" """}`, []string{`«"""a"}" """»`}},
		{"an empty string", `${""}`, []string{`«""»`}},
		{"three single quotes", "${'''}'''}", []string{"«'''}'''»"}},
		{"an expression inside an expression's string is text", `${"${a}"}`, []string{`«"${a}"»`}},
		{"a quoted field", "${a.`b}c`}", []string{"«a.`b}c`»"}},
		{"a comment", "${a // }\n}", []string{"«a // }\n»"}},
		{"a slash", "${a / b}", []string{"«a / b»"}},
		{"other alphabets", "价${a}元", []string{"价", "«a»", "元"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			parts, err := scan(c.text)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range parts {
				if p.isExpression {
					p.text = "«" + p.text + "»"
				}
				got = append(got, p.text)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%q is %q, want %q", c.text, got, c.want)
			}
		})
	}
}

func TestScanErrors(t *testing.T) {
	for text, words := range map[string]string{
		"价${":          "at character 2 has no closing }",
		"${}":          "is empty",
		"${{}":         "no closing }",
		"${'}":         "' is missing",
		`${"""}"}`:     `""" is missing`,
		`${"\`:         `" is missing`,
		"${a // b}":    "comment",
		"${a} ${b ${c": "at character 6 has no closing }",
	} {
		_, err := scan(text)
		says(t, err, words)
	}
}

func TestPlacesCountCharacters(t *testing.T) {
	parts, err := scan("价${a}")
	if err != nil || parts[1].at != 4 {
		t.Errorf("the expression is at %+v, %v", parts, err)
	}
}

// FuzzScan: scanning is total, and what it returns says all that was written.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{"", "a${b}c", "$${", "${'}'}", `${r"\"}`, "${a // }\n}", "${{`}`:1}}", "$$$${a}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parts, err := scan(text)
		if err != nil {
			return
		}
		var again strings.Builder
		literal := false
		for _, p := range parts {
			if literal && !p.isExpression {
				t.Fatalf("%q has two literals in a row", text)
			}
			literal = !p.isExpression
			if p.isExpression {
				again.WriteString("${" + p.text + "}")
			} else {
				again.WriteString(strings.ReplaceAll(p.text, "${", "$${"))
			}
		}
		if again.String() != text {
			t.Fatalf("%q is %q", text, again.String())
		}
	})
}

// FuzzText: compiling and evaluating is total, and bounded.
func FuzzText(f *testing.F) {
	for _, seed := range []string{
		"${params.id}", "a${params.name}", "${[1,2].map(x, x * 2)}", "${key(1, 'a')}", "${'%s'.format([params])}", "${params.?name}",
		"${params.items.map(i, i.n)}", "${{'a': [1.5, null, b'x', 1u]}}", "${response.body}", "${optional.of(1)}", "${timestamp(0)}",
	} {
		f.Add(seed)
	}
	env, in := typedEnv(f), input(f)
	f.Fuzz(func(t *testing.T, source string) {
		text, err := env.Text(source, everything)
		if err != nil {
			return
		}
		value, err := text.Value(in)
		if err != nil {
			return
		}
		if _, err := EncodeJSON(value); err != nil {
			t.Fatalf("%q comes to %#v, which is no JSON: %v", source, value, err)
		}
		_, _ = text.String(in)
	})
}
