package dbserver

import (
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

func TestACommitSurvivesAKill(t *testing.T) {
	for _, dialect := range []v1alpha1.SQLDialect{v1alpha1.PostgreSQL, v1alpha1.MySQL} {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			server, err := Start(t.Context(), dialect)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := server.Stop(); err != nil {
					t.Error(err)
				}
			})
			if err := server.Exec(t.Context(), "", "CREATE TABLE survives (id int)", "INSERT INTO survives VALUES (1)"); err != nil {
				t.Fatal(err)
			}
			server.Kill()
			if err := server.Exec(t.Context(), "", "SELECT 1"); err == nil {
				t.Error("it still answers")
			}
			if err := server.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := server.Exec(t.Context(), "", "DELETE FROM survives", "DROP TABLE survives"); err != nil {
				t.Error(err)
			}
		})
	}
}
