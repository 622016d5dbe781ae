package postgresql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"muster/internal/assessment"
	"muster/internal/snapshot"
)

// patience is how long we wait beyond the server's own statement timeout: a
// server that does not even enforce that is hanging.
const patience = 5 * time.Second

// session is a connection to one database that only reads.
type session struct {
	conn     *pgconn.PgConn
	database string
	timeout  time.Duration // of a statement
}

func open(ctx context.Context, target assessment.Target, database string) (*session, error) {
	conn, err := target.Connect(ctx, database)
	if err != nil {
		return nil, err
	}
	return &session{conn: conn, database: database, timeout: assessment.StatementTimeout}, nil
}

// close says goodbye also when the look was cancelled.
func (s *session) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = s.conn.Close(ctx)
}

// query runs one statement in a transaction of its own and returns its rows as
// text; NULL is "". Everything goes in one message, so that the settings hold
// also where a pooler gives every transaction another connection. The
// transaction is never committed. Every row has the columns asked for: what
// answers need not be PostgreSQL.
func (s *session) query(ctx context.Context, columns int, statement string) ([][]string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout+patience)
	defer cancel()
	answers := s.conn.Exec(ctx, fmt.Sprintf(
		"BEGIN TRANSACTION READ ONLY; SET LOCAL search_path = pg_catalog; SET LOCAL row_security = off; "+
			"SET LOCAL statement_timeout = %d; SET LOCAL lock_timeout = 500;\n%s\n; ROLLBACK",
		s.timeout.Milliseconds(), statement))
	const setup = 5 // results of BEGIN and the four SET
	var a answer
	results := 0
	for ; answers.NextResult(); results++ {
		reader := answers.ResultReader()
		for reader.NextRow() {
			if a.err == nil && results == setup {
				a.add(reader.Values(), columns)
			}
			if errors.Is(a.err, errTooMuch) {
				cancel() // breaks the connection: nobody waits for the rest
			}
		}
	}
	if err := answers.Close(); err != nil && !errors.Is(a.err, errTooMuch) {
		if !s.conn.IsClosed() {
			_, _ = s.conn.Exec(ctx, "ROLLBACK").ReadAll()
		}
		return nil, err
	}
	if a.err == nil && results <= setup {
		a.err = errors.New("the server answered fewer results than statements")
	}
	return a.rows, a.err
}

// maxAnswer bounds the text of one answer. The longest honest one lists columns:
// 100,000 tables of ten are about 100 MB. What only pretends to be a server may
// send for as long as we wait.
const maxAnswer = 256 << 20

// errTooMuch says that an answer was longer than maxAnswer.
var errTooMuch = errors.New("the server answered more than Muster takes in")

// answer collects the rows of one.
type answer struct {
	rows [][]string
	size int
	err  error
}

func (a *answer) add(values [][]byte, columns int) {
	if len(values) != columns {
		a.rows, a.err = nil, errors.New("the server answered other columns than asked for")
		return
	}
	row := make([]string, len(values))
	for i, value := range values {
		// A database in SQL_ASCII sends whatever bytes it holds.
		row[i] = strings.ToValidUTF8(string(value), "\uFFFD")
		a.size += len(row[i]) + perValue
	}
	if a.size > maxAnswer {
		a.rows, a.err = nil, errTooMuch
		return
	}
	a.rows = append(a.rows, row)
}

// perValue is what a value costs beside its text.
const perValue = 24

// row is query for statements that always return one row.
func (s *session) row(ctx context.Context, columns int, statement string) ([]string, error) {
	rows, err := s.query(ctx, columns, statement)
	if err == nil && len(rows) != 1 {
		err = errors.New("the server answered other rows than asked for")
	}
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}

// reasonOf says in a code and a sentence why a query gave nothing. What the
// server said stays out of it: its text may quote data.
func reasonOf(err error) (code, sentence string) {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		switch answer.Code {
		case "42501":
			return snapshot.ReasonPermissionDenied, "the server denied permission for it"
		case "57014", "55P03":
			return snapshot.ReasonTimeout, "the server did not finish it in time"
		default:
			return snapshot.ReasonQueryFailed, "the query failed with SQLSTATE " + answer.Code
		}
	}
	if errors.Is(err, context.DeadlineExceeded) || pgconn.Timeout(err) {
		return snapshot.ReasonTimeout, "the server did not answer in time"
	}
	return snapshot.ReasonQueryFailed, "the connection broke"
}

// literal quotes a string for use in a statement; standard_conforming_strings
// is set on every session.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// identifier quotes a name where it needs it, as quote_ident does.
func identifier(s string) string {
	plain := s != "" && (s[0] < '0' || s[0] > '9')
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			plain = false
		}
	}
	if plain {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}
