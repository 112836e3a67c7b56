package cli

import (
	"os"
	"strings"
	"testing"
)

// TestTheLedgerIsThatOfThePage: whichever of the two somebody uses, it is the same table.
func TestTheLedgerIsThatOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/effects/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, dialect := range []string{"postgresql", "mysql", "PostgreSQL", "MySQL"} {
		out, complaints, code := at("", "ledger-ddl", "--dialect", dialect)
		if code != 0 || !strings.HasPrefix(out, "CREATE TABLE IF NOT EXISTS taskonce_ledger (\n") || !strings.Contains(string(page), "```sql\n"+out+"```") {
			t.Errorf("%s: %d, %s%s", dialect, code, out, complaints)
		}
	}
	for _, args := range [][]string{{"ledger-ddl"}, {"ledger-ddl", "--dialect=oracle"}, {"ledger-ddl", "--dialect=mysql", "x"}} {
		if out, complaints, code := at("", args...); code != exitError || out != "" || complaints == "" {
			t.Errorf("%v: %d, %q, %q", args, code, out, complaints)
		}
	}
	if out, _, _ := at("", "__complete", "ledger-ddl", "--dialect", ""); !strings.HasPrefix(out, "postgresql\nmysql\tMariaDB, too\n:4\n") {
		t.Errorf("completion: %q", out)
	}
}
