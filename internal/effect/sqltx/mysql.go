package sqltx

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/ledger"
)

var mysqlDialect = &dialect{
	name:      "MySQL",
	example:   "user:password@tcp(host:3306)/database",
	connect:   connectMySQL,
	explain:   explainMySQL,
	refused:   refusedByMySQL,
	duplicate: func(err error) bool { return isMySQL(err, mysqlDuplicate) },
	grammar:   mysqlGrammar,
	text: texts{
		create: ledger.Table(v1alpha1.MySQL),
		insert: `INSERT INTO taskonce_ledger (idem_key, biz_type, biz_id, payload_digest, status, attempt) VALUES (?, ?, ?, ?, ?, ?)`,
		read:   mysqlRead,
		lock:   mysqlRead + ` LOCK IN SHARE MODE`, // an exclusive lock would deadlock with others that found the row at the same time
		owner:  `SELECT idem_key FROM taskonce_ledger WHERE biz_type = ? AND biz_id = ?`,
		replace: `UPDATE taskonce_ledger SET payload_digest = ?, biz_type = ?, biz_id = ?, attempt = ?, status = 'applied', created_at = CURRENT_TIMESTAMP(6), expires_at = NULL
			WHERE idem_key = ? AND status = 'forbidden'`,
		extend: `UPDATE taskonce_ledger SET attempt = ?, expires_at = NULL WHERE idem_key = ? AND status = 'forbidden'`,
		result: `UPDATE taskonce_ledger SET result_json = ? WHERE idem_key = ?`,
	},
}

const mysqlRead = `SELECT payload_digest, status, attempt, coalesce(result_json, ''), CASE WHEN expires_at < CURRENT_TIMESTAMP(6) THEN 1 ELSE 0 END FROM taskonce_ledger WHERE idem_key = ?`

type mysqlPool struct{ db *sql.DB }

func connectMySQL(dsn string, options Options) (database, string, error) {
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, "", err
	}
	if config.User == "" || config.DBName == "" {
		return nil, "", errors.New("user or database is missing")
	}
	// What a DSN must not say: arguments are no text, one text is one statement, and rows that an UPDATE finds count,
	// whether or not they change.
	config.InterpolateParams, config.MultiStatements, config.ClientFoundRows = false, false, true
	config.ParseTime, config.RejectReadOnly, config.AllowAllFiles = false, false, false
	config.Loc, config.Logger = time.UTC, &mysql.NopLogger{}
	if config.Params == nil {
		config.Params = map[string]string{}
	}
	config.Params["time_zone"] = "'+00:00'"
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, "", err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(options.MaxConnections)
	db.SetMaxIdleConns(options.MaxConnections)
	db.SetConnMaxIdleTime(options.IdleAfter)
	return mysqlPool{db}, config.Passwd, nil
}

func (p mysqlPool) open(ctx context.Context) (session, error) {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &mysqlSession{conn: conn}, nil
}

func (p mysqlPool) close() { _ = p.db.Close() }

// mysqlSession uses one connection by hand. database/sql sends nothing a second time on a *sql.Conn, and its Tx has no
// context for COMMIT.
type mysqlSession struct {
	conn *sql.Conn
	// open says that a transaction may be open.
	open bool
}

// begin sets what the server waits for. Whole seconds are all that it knows.
func (s *mysqlSession) begin(ctx context.Context, limit time.Duration) error {
	seconds := int(math.Ceil(limit.Seconds()))
	// The connection may idle in the pool for as long as that keeps it.
	err := s.command(ctx, fmt.Sprintf("SET SESSION innodb_lock_wait_timeout = %d, wait_timeout = %d", max(seconds, 1), seconds+int(idleAllowance.Seconds())))
	if err != nil {
		return err
	}
	s.open = true
	return s.command(ctx, "START TRANSACTION")
}

// idleAllowance is for how long after an attempt's time-out the server keeps a connection that says nothing.
const idleAllowance = 2 * time.Minute

func (s *mysqlSession) command(ctx context.Context, text string) error {
	_, err := s.conn.ExecContext(ctx, text)
	return err
}

func (s *mysqlSession) run(ctx context.Context, statement string, args []any) (int64, error) {
	result, err := s.conn.ExecContext(ctx, statement, mysqlArguments(args)...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (s *mysqlSession) query(ctx context.Context, statement string, args []any, most int) (*rows, error) {
	found := &rows{}
	cursor, err := s.conn.QueryContext(ctx, statement, mysqlArguments(args)...)
	if err != nil {
		return found, err
	}
	defer func() { _ = cursor.Close() }()
	types, err := cursor.ColumnTypes()
	if err != nil {
		return found, err
	}
	values, into := make([]any, len(types)), make([]any, len(types))
	for i, column := range types {
		found.columns = append(found.columns, column.Name())
		into[i] = &values[i]
	}
	for cursor.Next() {
		if found.count++; found.count > int64(most) {
			continue
		}
		if err := cursor.Scan(into...); err != nil {
			return found, err
		}
		found.cells = append(found.cells, mysqlRow(types, values))
	}
	return found, cursor.Err()
}

func (s *mysqlSession) commit(ctx context.Context) error {
	err := s.command(ctx, "COMMIT")
	s.open = err != nil
	return err
}

func (s *mysqlSession) rollback() {
	if !s.open {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), rollbackTimeout)
	defer cancel()
	s.open = s.command(ctx, "ROLLBACK") != nil
}

// release closes a connection whose transaction could not be ended: the server rolls it back then.
func (s *mysqlSession) release() {
	s.rollback()
	if s.open {
		_ = s.conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	_ = s.conn.Close()
}

// mysqlArguments passes numbers as numbers, so that comparing them converts nothing, and lists and objects as JSON.
func mysqlArguments(args []any) []any {
	values := make([]any, len(args))
	for i, arg := range args {
		switch arg.(type) {
		case nil, string, int64, float64, bool:
			values[i] = arg
		default:
			values[i] = string(asJSON(arg))
		}
	}
	return values
}
