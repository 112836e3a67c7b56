package dbserver

import (
	"context"
	"database/sql"
	"fmt"

	_ "github.com/go-sql-driver/mysql" // the driver "mysql"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// DSN returns the superuser's DSN for a database of the server, at a port: the server's own or a proxy's.
func (s *Server) DSN(database string, port int) string {
	return s.DSNFor(User, Password, database, port)
}

// DSNFor returns the DSN of any user.
func (s *Server) DSNFor(user, password, database string, port int) string {
	if s.Dialect == v1alpha1.PostgreSQL {
		return fmt.Sprintf("postgres://%s:%s@127.0.0.1:%d/%s?sslmode=disable&connect_timeout=10", user, password, port, database)
	}
	return fmt.Sprintf("%s:%s@tcp(127.0.0.1:%d)/%s?timeout=10s", user, password, port, database)
}

// Open returns a pool of the test's own, apart from what is tested. "" is the server's own database.
func (s *Server) Open(database string) (*sql.DB, error) {
	driver := "mysql"
	if s.Dialect == v1alpha1.PostgreSQL {
		driver = "pgx"
		if database == "" {
			database = "postgres"
		}
	} else if database == "" {
		database = "mysql"
	}
	return sql.Open(driver, s.DSN(database, s.Port))
}

// Exec runs statements as the superuser, over a connection of its own.
func (s *Server) Exec(ctx context.Context, database string, statements ...string) error {
	db, err := s.Open(database)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}
