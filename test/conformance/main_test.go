package main

import (
	"strings"
	"testing"
)

func line(action, test string) string {
	return `{"Action":"` + action + `","Package":"p","Test":"` + test + `"}` + "\n"
}

func TestTheTable(t *testing.T) {
	whole := line("run", "TestConformance") + line("pass", "TestConformance/http/lost_before") +
		line("pass", "TestConformance/job/lost_before") + line("pass", "TestConformance/job") + line("pass", "TestOther/a/b")
	for _, c := range []struct{ reason, input, shows, fault string }{
		{"every cell passed", whole, "lost before | pass | pass", ""},
		{"a cell that another effect has is missing", whole + line("pass", "TestConformance/job/refused"), "refused     | MISSING", "1 cells did not pass"},
		{"a cell failed", whole + line("fail", "TestConformance/job/lost_before"), "| FAIL", "1 cells did not pass"},
		{"a cell was skipped", whole + line("skip", "TestConformance/job/lost_before"), "| SKIP", "1 cells did not pass"},
		{"a cell began and never ended", whole + line("run", "TestConformance/job/applied"), "MISSING", "2 cells did not pass"},
		{"a package does not build", whole + line("fail", ""), "", "failed in p"},
		{"nothing ran", line("pass", "TestOther"), "", "0 did"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			table, err := read(strings.NewReader(c.input))
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			err = table.print(&out)
			if (err != nil) != (c.fault != "") || (err != nil && !strings.Contains(err.Error(), c.fault)) {
				t.Errorf("got the error %v, want %q", err, c.fault)
			}
			if !strings.Contains(out.String(), c.shows) {
				t.Errorf("it does not show %q:\n%s", c.shows, out.String())
			}
		})
	}
}
