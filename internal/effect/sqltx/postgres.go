package sqltx

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/ledger"
)

var postgres = &dialect{
	name:      "PostgreSQL",
	example:   "postgres://user:password@host:5432/database",
	connect:   connectPostgres,
	explain:   explainPostgres,
	refused:   refusedByPostgres,
	duplicate: func(error) bool { return false }, // ON CONFLICT DO NOTHING, so that the transaction goes on
	grammar:   postgresGrammar,
	text: texts{
		create: ledger.Table(v1alpha1.PostgreSQL),
		insert: `INSERT INTO taskonce_ledger (idem_key, biz_type, biz_id, payload_digest, status, attempt) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
		read:   postgresRead,
		lock:   postgresRead + ` FOR UPDATE`,
		owner:  `SELECT idem_key FROM taskonce_ledger WHERE biz_type = $1 AND biz_id = $2`,
		replace: `UPDATE taskonce_ledger SET payload_digest = $1, biz_type = $2, biz_id = $3, attempt = $4, status = 'applied', created_at = now(), expires_at = NULL
			WHERE idem_key = $5 AND status = 'forbidden'`,
		extend: `UPDATE taskonce_ledger SET attempt = $1, expires_at = NULL WHERE idem_key = $2 AND status = 'forbidden'`,
		result: `UPDATE taskonce_ledger SET result_json = $1 WHERE idem_key = $2`,
	},
}

const postgresRead = `SELECT payload_digest, status, attempt, coalesce(result_json, ''), CASE WHEN expires_at < now() THEN 1 ELSE 0 END FROM taskonce_ledger WHERE idem_key = $1`

type postgresPool struct{ pool *pgxpool.Pool }

func connectPostgres(dsn string, options Options) (database, string, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, "", err
	}
	if config.ConnConfig.User == "" || config.ConnConfig.Database == "" {
		return nil, "", errors.New("user or database is missing")
	}
	config.MaxConns, config.MinConns, config.MinIdleConns = int32(options.MaxConnections), 0, 0
	config.MaxConnIdleTime, config.HealthCheckPeriod = options.IdleAfter, options.IdleAfter
	parameters := config.ConnConfig.RuntimeParams
	// Values are read and written as text, so the server must write them in one way.
	parameters["DateStyle"], parameters["TimeZone"] = "ISO", "UTC"
	if parameters["application_name"] == "" {
		parameters["application_name"] = "taskonce"
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, "", err
	}
	return postgresPool{pool}, config.ConnConfig.Password, nil
}

func (p postgresPool) open(ctx context.Context) (session, error) {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return &postgresSession{held: conn, conn: conn.Conn().PgConn()}, nil
}

func (p postgresPool) close() { p.pool.Close() }

// postgresSession speaks the extended protocol, one statement at a time: the server refuses text that holds two, and
// arguments never become part of a text.
type postgresSession struct {
	held *pgxpool.Conn
	conn *pgconn.PgConn
}

func (s *postgresSession) begin(ctx context.Context, limit time.Duration) error {
	milliseconds := max(limit.Milliseconds(), 1)
	return s.simple(ctx, fmt.Sprintf("BEGIN; SET LOCAL lock_timeout = %[1]d; SET LOCAL statement_timeout = %[1]d; SET LOCAL idle_in_transaction_session_timeout = %[1]d", milliseconds))
}

func (s *postgresSession) simple(ctx context.Context, text string) error {
	_, err := s.conn.Exec(ctx, text).ReadAll()
	return err
}

func (s *postgresSession) run(ctx context.Context, statement string, args []any) (int64, error) {
	reader := s.conn.ExecParams(ctx, statement, postgresArguments(args), nil, nil, nil)
	tag, err := reader.Close()
	return tag.RowsAffected(), err
}

func (s *postgresSession) query(ctx context.Context, statement string, args []any, most int) (*rows, error) {
	reader := s.conn.ExecParams(ctx, statement, postgresArguments(args), nil, nil, nil)
	found := &rows{}
	fields := reader.FieldDescriptions()
	for i := range fields {
		found.columns = append(found.columns, fields[i].Name)
	}
	for reader.NextRow() {
		if found.count++; found.count <= int64(most) {
			found.cells = append(found.cells, postgresRow(fields, reader.Values()))
		}
	}
	_, err := reader.Close()
	return found, err
}

func (s *postgresSession) commit(ctx context.Context) error {
	results, err := s.conn.Exec(ctx, "COMMIT").ReadAll()
	if err == nil && len(results) == 1 && results[0].CommandTag.String() == "ROLLBACK" {
		return errRolledBack
	}
	return err
}

// errRolledBack says that COMMIT met a transaction that had failed.
var errRolledBack = errors.New("the transaction had failed")

// rollback gives up soon: a connection that does not answer is closed, which rolls back too.
func (s *postgresSession) rollback() {
	if s.conn.TxStatus() == 'I' || s.conn.IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), rollbackTimeout)
	defer cancel()
	if s.conn.IsBusy() || s.simple(ctx, "ROLLBACK") != nil {
		_ = s.conn.Close(ctx)
	}
}

const rollbackTimeout = 2 * time.Second

// release: the pool closes a connection that is in a transaction.
func (s *postgresSession) release() { s.rollback(); s.held.Release() }

// postgresArguments writes arguments as text, of which the server makes what the placeholder's type is.
func postgresArguments(args []any) [][]byte {
	values := make([][]byte, len(args))
	for i, arg := range args {
		switch v := arg.(type) {
		case nil:
		case string:
			values[i] = []byte(v)
		case int64:
			values[i] = strconv.AppendInt(nil, v, 10)
		case bool:
			values[i] = strconv.AppendBool(nil, v)
		default:
			values[i] = asJSON(v)
		}
	}
	return values
}
