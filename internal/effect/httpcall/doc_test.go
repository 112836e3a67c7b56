package httpcall

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// documented is one row of the table of statuses in docs/effects/http.md.
type documented struct {
	statuses  []int
	other     bool // of what no earlier row has
	receivers string
	outcome   v1alpha1.Outcome
	permanent bool
}

// TestTheDocumentedTableIsTheCodes compares every status with the table that people read.
func TestTheDocumentedTableIsTheCodes(t *testing.T) {
	rows := documentedRows(t)
	for status := 100; status < 1000; status++ {
		for _, idempotent := range []bool{false, true} {
			got, want := byStatus(status, idempotent), rowFor(rows, status, idempotent)
			if want == nil || got.kind != want.outcome || got.permanent != want.permanent {
				t.Errorf("%d, idempotent %t: the code says %+v, the page %+v", status, idempotent, got, want)
			}
		}
	}
}

func rowFor(rows []documented, status int, idempotent bool) *documented {
	named := func(row documented) bool {
		return slices.Contains(row.statuses, status) && (row.receivers == "any" || (row.receivers == "idempotent") == idempotent)
	}
	for _, other := range []bool{false, true} {
		for i := range rows {
			if rows[i].other == other && (named(rows[i]) || len(rows[i].statuses) == 0) {
				return &rows[i]
			}
		}
	}
	return nil
}

func documentedRows(t *testing.T) []documented {
	t.Helper()
	text, err := os.ReadFile("../../../docs/effects/http.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## What an answer means")
	row := regexp.MustCompile(`(?m)^\| ([^|]+) \| (any|idempotent|not idempotent) \| (\w+)(, permanent)? \|`)
	var rows []documented
	for _, found := range row.FindAllStringSubmatch(section, -1) {
		if strings.Contains(found[1], "Location") {
			continue // about more than the status: TestAcceptedWithALocation
		}
		rows = append(rows, documented{
			statuses: statuses(t, found[1]), other: strings.HasPrefix(found[1], "other") || strings.HasPrefix(found[1], "anything"),
			receivers: found[2], outcome: v1alpha1.Outcome(found[3]), permanent: found[4] != "",
		})
	}
	if len(rows) < 10 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	return rows
}

// statuses reads "307, 308", "other 400-499" and "anything else".
func statuses(t *testing.T, text string) []int {
	t.Helper()
	var all []int
	for _, part := range regexp.MustCompile(`\d+(-\d+)?`).FindAllString(text, -1) {
		first, last, ranged := strings.Cut(part, "-")
		if !ranged {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err != nil || err2 != nil {
			t.Fatalf("no statuses: %q", text)
		}
		for status := from; status <= to; status++ {
			all = append(all, status)
		}
	}
	return all
}
