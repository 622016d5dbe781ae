package assessment

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// patience is how long we wait beyond the server's own statement timeout: a
// server that does not even enforce that is hanging.
const patience = 5 * time.Second

// Connection is a connection to one database that only reads. It is one
// goroutine's at a time.
type Connection struct {
	Database string
	Timeout  time.Duration // of a statement
	conn     *pgconn.PgConn
}

// Open is Connect for a session. The error is always a *ConnectionError.
func (t Target) Open(ctx context.Context, database string) (*Connection, error) {
	conn, err := t.Connect(ctx, database)
	if err != nil {
		return nil, err
	}
	return &Connection{Database: database, Timeout: StatementTimeout, conn: conn}, nil
}

// Close says goodbye also when the look was cancelled.
func (s *Connection) Close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = s.conn.Close(ctx)
}

// Closed says whether the connection is gone, so that no statement can be run.
func (s *Connection) Closed() bool { return s.conn.IsClosed() }

// Each runs one statement in a transaction of its own and calls take with each
// row as text; NULL is nil, and the bytes are the caller's during the call only.
// An error of take ends it: take sees no further row, and Each returns the error.
//
// Everything goes in one message, so that the settings hold also where a pooler
// gives every transaction another connection. The transaction is never committed.
// Every row has the columns asked for: what answers need not be PostgreSQL. Its
// refusal is a *pgconn.PgError; ErrTooMuch says that the answer was cut off, and
// the connection with it.
func (s *Connection) Each(ctx context.Context, columns int, statement string, take func(row [][]byte) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout+patience)
	defer cancel()
	answers := s.conn.Exec(ctx, fmt.Sprintf(
		"BEGIN TRANSACTION READ ONLY; SET LOCAL search_path = pg_catalog; SET LOCAL row_security = off; "+
			"SET LOCAL statement_timeout = %d; SET LOCAL lock_timeout = 500;\n%s\n; ROLLBACK",
		s.Timeout.Milliseconds(), statement))
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
		return err
	}
	if a.err == nil && results <= setup {
		a.err = errors.New("the server answered fewer results than statements")
	}
	return a.err
}

// maxAnswer bounds the text of one answer. The longest honest one lists columns:
// 100,000 tables of ten are about 100 MB. What only pretends to be a server may
// send for as long as we wait.
const maxAnswer = 256 << 20

// perValue is what a value costs beside its text.
const perValue = 24

// ErrTooMuch says that an answer was longer than Muster takes in.
var ErrTooMuch = errors.New("the server answered more than Muster takes in")

// answer hands on the rows of one.
type answer struct {
	columns int
	take    func(row [][]byte) error
	size    int
	err     error
}

func (a *answer) addRow(values [][]byte) {
	if len(values) != a.columns {
		a.err = errors.New("the server answered other columns than asked for")
		return
	}
	for _, value := range values {
		a.size += len(value) + perValue
	}
	if a.size > maxAnswer {
		a.err = ErrTooMuch
		return
	}
	a.err = a.take(values)
}

// Query returns the rows of one statement as text; NULL is "". Errors as Each's.
func (s *Connection) Query(ctx context.Context, columns int, statement string) ([][]string, error) {
	var rows [][]string
	err := s.Each(ctx, columns, statement, func(values [][]byte) error {
		row := make([]string, len(values))
		for i, value := range values {
			// A database in SQL_ASCII sends whatever bytes it holds.
			row[i] = strings.ToValidUTF8(string(value), "\uFFFD")
		}
		rows = append(rows, row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// Row is Query for statements that always return one row.
func (s *Connection) Row(ctx context.Context, columns int, statement string) ([]string, error) {
	rows, err := s.Query(ctx, columns, statement)
	if err == nil && len(rows) != 1 {
		err = errors.New("the server answered other rows than asked for")
	}
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}
