package expr

import (
	"net/url"
	"strings"
	"testing"
)

func TestURL(t *testing.T) {
	env, in := typedEnv(t), input(t)
	for _, c := range []struct{ reason, text, want string }{
		{"constant", "https://pay.example/a%20b?c=d", "https://pay.example/a%20b?c=d"},
		{"no path", "https://pay.example", "https://pay.example"},
		{"every digit", "https://pay.example/${params.id}", "https://pay.example/9007199254740993"},
		{"a value stays one segment", "https://pay.example/${params.name}/x", "https://pay.example/a%2Fb%20c/x"},
		{"a value stays one query value", "https://pay.example/?q=${'a&b=c#d+e f%/é'}", "https://pay.example/?q=a%26b%3Dc%23d%2Be%20f%25%2F%C3%A9"},
		{"what need not be encoded is not", "https://pay.example/${'aZ09-_.~'}", "https://pay.example/aZ09-_.~"},
		{"an empty query value is fine", "https://pay.example/?q=${''}", "https://pay.example/?q="},
		{"a query right behind the host", "http://pay.example?q=${1}", "http://pay.example?q=1"},
		{"a port", "http://pay.example:8080/${1}", "http://pay.example:8080/1"},
		{"several in one segment", "https://pay.example/${1}-${2}", "https://pay.example/1-2"},
		{"an escape", "https://pay.example/?q=$${x}", "https://pay.example/?q=${x}"},
		{"three dots are a name", "https://pay.example/${'...'}", "https://pay.example/..."},
		{"dots in a query lead nowhere", "https://pay.example/?q=${'..'}", "https://pay.example/?q=.."},
		{"a question mark in the query does not end it", "https://pay.example/?q=?${''}", "https://pay.example/?q=?"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			u, err := env.URL(c.text, everything)
			if err != nil {
				t.Fatal(err)
			}
			got, err := u.Render(in)
			if err != nil || got != c.want {
				t.Errorf("%s is %q (%v), want %q", c.text, got, err, c.want)
			}
			if parsed, err := url.Parse(got); err != nil || parsed.Host != u.Host() {
				t.Errorf("%s goes to %v (%v), and the host is %s", got, parsed, err, u.Host())
			}
		})
	}
}

func TestURLErrors(t *testing.T) {
	env := typedEnv(t)
	for text, words := range map[string][]string{
		"${params.name}":                        {"scheme, host and user", "begin after the host's /"},
		"https://${params.name}/x":              {"scheme, host and user"},
		"https://pay.example${params.name}":     {"scheme, host and user"},
		"https://pay.example:${params.id}/":     {"scheme, host and user"},
		"http${'s'}://pay.example/":             {"scheme, host and user"},
		"https://${params.name}@pay.example/":   {"scheme, host and user"},
		"/charges/${params.id}":                 {"scheme, host and user"},
		"ftp://pay.example/":                    {"http:// or https://"},
		"pay.example/x":                         {"http:// or https://"},
		"":                                      {"http:// or https://"},
		"https:///x":                            {"no host"},
		"https://:80/x":                         {"no host"},
		"https://me:secret@pay.example/":        {"credentials", "valueFrom"},
		"https://pay.example/#${params.id}":     {"fragment", "%23"},
		"https://pay.example/%${params.id}":     {"is no URL"},
		"https://pay.example/%4${params.id}":    {"is no URL"},
		"https://pay.example/a/../b":            {`".."`},
		"https://pay.example/%2e%2E/b":          {"another path"},
		"https://pay.example/${params.nope}":    {"undefined field", "at character 23"},
		"https://pay.example/${response.status": {"no closing"},
	} {
		t.Run(text, func(t *testing.T) {
			_, err := env.URL(text, everything)
			says(t, err, words...)
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error repeats the credentials: %v", err)
			}
		})
	}
}

func TestURLRefusesValuesThatLeadElsewhere(t *testing.T) {
	env, in := typedEnv(t), input(t)
	for text, words := range map[string][]string{
		"https://pay.example/charges/${'..'}": {`".."`, "another path"},
		// Some receivers decode before they resolve, and some leave out what follows a semicolon.
		"https://pay.example/charges/${'../../admin'}/x":   {"another path"},
		`https://pay.example/charges/${'..\\..\\admin'}/x`: {"another path"},
		"https://pay.example/charges/${'..;a'}/x":          {"another path"},
		"https://pay.example/charges/${'.'}":               {`"."`},
		"https://pay.example/charges/.${'.'}/x":            {`".."`},
		"https://pay.example/charges/${'.'}${'.'}/x":       {`".."`},
		"https://pay.example/charges/${'..'}?q=1":          {`".."`},
		"https://pay.example/charges/${''}":                {"is empty", "minLength"},
		"https://pay.example/charges/a${''}?q=1":           {"is empty"},
		"https://pay.example/charges/${params.maybe}":      {"is null"},
		"https://pay.example/charges/${params.addr}":       {"is a map"},
		"https://pay.example/?q=${params.items}":           {"is a list"},
	} {
		u, err := env.URL(text, everything)
		if err != nil {
			t.Fatal(err)
		}
		_, err = u.Render(in)
		says(t, err, words...)
	}
}

func TestURLIsBounded(t *testing.T) {
	u, err := typedEnv(t).URL("https://pay.example/?q=${params.name}${params.name}", Params)
	if err != nil {
		t.Fatal(err)
	}
	_, err = u.Render(Input{Params: map[string]any{"name": strings.Repeat("x", MaxOutputBytes/2)}})
	says(t, err, "256 KiB")
}

// FuzzURL: whatever a value is, it stays in its segment, and the request goes to the host that is written.
func FuzzURL(f *testing.F) {
	for _, seed := range []string{"a", "/", "..", "%2e", "a?b#c", "\\", "@evil.example", "\n", "é", "\x00"} {
		f.Add(seed)
	}
	u, err := mustEnv(f, nil).URL("https://pay.example/a/${params.v}/b?q=${params.v}", Params)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got, err := u.Render(Input{Params: map[string]any{"v": value}})
		if err != nil {
			return
		}
		parsed, err := url.Parse(got)
		if err != nil || parsed.Host != "pay.example" || parsed.Fragment != "" {
			t.Fatalf("%q leads to %q, %v", value, got, err)
		}
		if parsed.Path != "/a/"+value+"/b" || strings.Count(parsed.EscapedPath(), "/") != 3 || parsed.Query().Get("q") != value {
			t.Fatalf("%q is not what arrives: %q", value, got)
		}
	})
}
