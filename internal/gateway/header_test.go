package gateway

import (
	"strings"
	"testing"
	"time"
)

func TestKeyOf(t *testing.T) {
	for _, test := range []struct{ reason, header, key, kind string }{
		{"a String", `"task:42"`, "task:42", ""},
		{"with quotes and backslashes", `"a\"b\\c"`, `a"b\c`, ""},
		{"with parameters, which are ignored", `"task";v=1`, "task", ""},
		{"a Display String", `%"%e6%8f%90:1%25"`, "提:1%", ""},
		{"a token", "task", "", "invalid-key"},
		{"a number", "42", "", "invalid-key"},
		{"bytes", ":dGFzaw==:", "", "invalid-key"},
		{"no end", `"task`, "", "invalid-key"},
		{"two", `"a", "b"`, "", "invalid-key"},
		{"other letters in a String", `"提"`, "", "invalid-key"},
		{"empty", `""`, "", "invalid-key"},
		{"too long", `"` + strings.Repeat("a", 513) + `"`, "", "invalid-key"},
		{"white space at the end", `"a "`, "", "invalid-key"},
		{"a control character", `%"a%0ab"`, "", "invalid-key"},
	} {
		key, wrong := keyOf([]string{test.header})
		kind := ""
		if wrong != nil {
			kind = strings.TrimPrefix(wrong.Type, problemTypes)
		}
		if key != test.key || kind != test.kind {
			t.Errorf("%s: %q, %q; want %q, %q", test.reason, key, kind, test.key, test.kind)
		}
	}
}

func TestPreferredWait(t *testing.T) {
	for _, test := range []struct {
		header string // lines, with a line's end between them
		wait   time.Duration
		stated bool
	}{
		{"wait=10", 10 * time.Second, true},
		{"wait=0", 0, true},
		{"respond-async, wait=3", 3 * time.Second, true},
		{"return=minimal", 0, false},
		{"", 0, false},
		{"wait", 0, false},
		{"wait=-1", 0, false},
		{"wait=soon", 0, false},
		{"wait=1.5", 0, false},
		{"wait=(1 2)", 0, false},
		{"wait=-1", 0, false},
		{"wait=99999999999999999999", (1<<30 - 1) * time.Second, true},
		{"wait=1 2", 0, false},
		{"wait=5, wait=50", 5 * time.Second, true},
		{"respond-async\nwait=5", 5 * time.Second, true},
		{"Wait=5", 5 * time.Second, true},
		{`wait="5"`, 5 * time.Second, true},
		{"wait = 5 ; foo", 5 * time.Second, true},
		{`return="a, wait=7; \", wait=8", wait=5`, 5 * time.Second, true},
		{"what@ever, wait=5", 5 * time.Second, true},
		{"await=5", 0, false},
	} {
		if wait, stated := preferredWait(strings.Split(test.header, "\n")); wait != test.wait || stated != test.stated {
			t.Errorf("%q: %s, %t", test.header, wait, stated)
		}
	}
}

func TestHowLongAnAnswerWaits(t *testing.T) {
	g := &Gateway{DefaultWait: 10 * time.Second, MaxWait: time.Minute}
	for _, test := range []struct {
		header string
		first  bool
		wait   time.Duration
	}{
		{"", true, 10 * time.Second},
		{"", false, 0},
		{"wait=0", true, 0},
		{"wait=30", true, 30 * time.Second},
		{"wait=30", false, 30 * time.Second},
		{"wait=61", true, time.Minute},
		{"wait=3600", false, time.Minute},
		{"wait=99999999999999999999", true, time.Minute},
	} {
		if wait, stated := g.waitOf([]string{test.header}, test.first); wait != test.wait || stated != (test.header != "") {
			t.Errorf("%q, first: %t: %s, %t", test.header, test.first, wait, stated)
		}
	}
}
