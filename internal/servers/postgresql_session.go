package servers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"muster/domain/fleet"
)

// postgresSession is a Session on a PostgreSQL server.
type postgresSession struct {
	database string
	timeout  time.Duration // of a statement
	conn     *pgconn.PgConn
}

func (s *postgresSession) Database() string { return s.database }

func (s *postgresSession) SetTimeout(timeout time.Duration) { s.timeout = timeout }

// Close says goodbye also when the look was cancelled.
func (s *postgresSession) Close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = s.conn.Close(ctx)
}

// Closed says whether the connection is gone, so that no statement can be run.
func (s *postgresSession) Closed() bool { return s.conn.IsClosed() }

// Each runs the statement in a read-only transaction of its own, which is never committed.
// Everything goes in one message, so that the settings hold also where a pooler gives
// every transaction another connection.
func (s *postgresSession) Each(ctx context.Context, columns int, statement string, take func(row [][]byte) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout+patience)
	defer cancel()
	answers := s.conn.Exec(ctx, fmt.Sprintf(
		"BEGIN TRANSACTION READ ONLY; SET LOCAL search_path = pg_catalog; SET LOCAL row_security = off; "+
			"SET LOCAL statement_timeout = %d; SET LOCAL lock_timeout = 500;\n%s\n; ROLLBACK",
		s.timeout.Milliseconds(), statement))
	const setup = 5 // results of BEGIN and the four SET
	a := answer{columns: columns, take: take}
	results := 0
	for ; answers.NextResult(); results++ {
		reader := answers.ResultReader()
		for reader.NextRow() {
			if a.err == nil && results == setup {
				a.addRow(reader.Values())
			}
			if errors.Is(a.err, ErrTooMuch) {
				cancel() // breaks the connection: nobody waits for the rest
			}
		}
	}
	if err := answers.Close(); err != nil && !errors.Is(a.err, ErrTooMuch) {
		if !s.conn.IsClosed() {
			_, _ = s.conn.Exec(ctx, "ROLLBACK").ReadAll()
		}
		return postgresRefusal(err)
	}
	if a.err == nil && results <= setup {
		a.err = errors.New("the server answered fewer results than statements")
	}
	return a.err
}

// postgresRefusal is an error of the driver without what the server said.
func postgresRefusal(err error) error {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return err
	}
	refusal := &Refusal{Engine: fleet.PostgreSQL, Code: "SQLSTATE " + answer.Code, Reason: Failed}
	switch answer.Code {
	case insufficientPrivilege:
		refusal.Reason = Denied
	case "57014", "55P03": // query_canceled, lock_not_available
		refusal.Reason = TimedOut
	case "42P01", "42703", "42883", "3F000": // no such table, column, function, schema
		refusal.Reason = Absent
	}
	return refusal
}
