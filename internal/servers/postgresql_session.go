package servers

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"muster/domain/fleet"
)

// postgresSession is a Session on a PostgreSQL server.
type postgresSession struct {
	database string
	timeout  time.Duration // of a statement
	conn     *pgconn.PgConn
	pooled   bool // the process of the server that answers need not be ours alone
}

func (s *postgresSession) Database() string { return s.database }

func (s *postgresSession) SetTimeout(timeout time.Duration) { s.timeout = timeout }

// Close says goodbye also when the look was cancelled.
func (s *postgresSession) Close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = s.conn.Close(ctx)
}

// Backend names the process of the server that answers now; known is false if nothing is
// between us and it.
func (s *postgresSession) Backend(ctx context.Context) (process string, known bool, err error) {
	if !s.pooled {
		return "", false, nil
	}
	row, err := Row(ctx, s, 1, backendSQL)
	if err != nil {
		return "", true, err
	}
	return row[0], true, nil
}

// Closed says whether the connection is gone, so that no statement can be run.
func (s *postgresSession) Closed() bool { return s.conn.IsClosed() }

// opening begins a transaction that only reads, and sets in it all that our statements rely
// on. Nothing is set beyond a transaction, for a pooler gives the connection to the watched
// application next, with whatever was left on it; and as each transaction sets it all, it
// does not matter what others left there for us.
func opening(timeout time.Duration) string {
	return fmt.Sprintf(`BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY; SELECT
		pg_catalog.set_config('search_path', 'pg_catalog', true), pg_catalog.set_config('application_name', '%s', true), pg_catalog.set_config('row_security', 'off', true),
		pg_catalog.set_config('statement_timeout', '%d', true), pg_catalog.set_config('lock_timeout', '%d', true),
		pg_catalog.set_config('idle_in_transaction_session_timeout', '%d', true),
		pg_catalog.set_config('DateStyle', 'ISO', true), pg_catalog.set_config('IntervalStyle', 'postgres', true),
		pg_catalog.set_config('TimeZone', 'UTC', true), pg_catalog.set_config('client_encoding', 'UTF8', true),
		pg_catalog.set_config('standard_conforming_strings', 'on', true),
		pg_catalog.set_config('bytea_output', 'hex', true), pg_catalog.set_config('extra_float_digits', '1', true);`,
		ApplicationName, timeout.Milliseconds(), lockTimeout.Milliseconds(), time.Minute.Milliseconds())
}

// openingResults are those of an opening: of BEGIN and of the settings.
const openingResults = 2

// backendSQL is the process of the server that answers.
const backendSQL = `SELECT pg_catalog.pg_backend_pid()`

// greet runs a transaction in messages of its own: a pooler in statement mode, which runs
// none, refuses that. What a server names as its process when it lets a client in is another
// one than the process that answers where a pooler is between. Where none is, the session is
// ours alone, and says so between its transactions, too.
func (s *postgresSession) greet(ctx context.Context) error {
	results, err := s.conn.Exec(ctx, opening(s.timeout)+"\n"+backendSQL).ReadAll()
	if err == nil && (len(results) != openingResults+1 || len(results[openingResults].Rows) != 1) {
		err = errors.New("the server answered other rows than asked for")
	}
	if err != nil {
		return err
	}
	s.pooled = string(results[openingResults].Rows[0][0]) != strconv.FormatUint(uint64(s.conn.PID()), 10)
	end := "ROLLBACK"
	if !s.pooled {
		end += "; SET application_name = '" + ApplicationName + "'; SET client_encoding = 'UTF8'; SET standard_conforming_strings = on"
	}
	_, err = s.conn.Exec(ctx, end).ReadAll()
	return err
}

// readsAsWeWrite says whether the server reads the letters and the backslashes of a statement
// as we write them, before anything is set.
func (s *postgresSession) readsAsWeWrite() bool {
	return s.conn.ParameterStatus("standard_conforming_strings") == "on" && s.conn.ParameterStatus("client_encoding") == "UTF8"
}

// Each runs the statement in a read-only transaction of its own, which is never committed.
// Everything goes in one message, in two where the server would misread the statement before
// the settings hold.
func (s *postgresSession) Each(ctx context.Context, statement Statement, take func(row [][]byte) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout+patience)
	defer cancel()
	begin, setup := opening(s.timeout), openingResults
	if !s.readsAsWeWrite() {
		if _, err := s.conn.Exec(ctx, begin).ReadAll(); err != nil {
			return s.refused(ctx, err)
		}
		begin, setup = "", 0
	}
	answers := s.conn.Exec(ctx, begin+"\n"+statement.Text+"\n; ROLLBACK")
	a := answer{columns: statement.Columns, take: take}
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
		return s.refused(ctx, err)
	}
	if a.err == nil && results <= setup {
		a.err = errors.New("the server answered fewer results than statements")
	}
	return a.err
}

// refused ends a transaction in which something failed.
func (s *postgresSession) refused(ctx context.Context, err error) error {
	if !s.conn.IsClosed() {
		_, _ = s.conn.Exec(ctx, "ROLLBACK").ReadAll()
	}
	return postgresRefusal(err)
}

// postgresRefusal is an error of the driver without what the server said.
func postgresRefusal(err error) error {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return err
	}
	refusal := &Refusal{Engine: fleet.PostgreSQL, Code: "SQLSTATE " + answer.Code, Reason: Failed}
	if isPlain(answer.Code) {
		refusal.Words = plain(answer.Message)
	}
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
