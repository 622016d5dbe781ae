package servers

import (
	"context"
	"errors"
	"strings"
	"time"
)

// ApplicationName is what our sessions call themselves.
const ApplicationName = "muster"

// Limits of one session.
const (
	ConnectTimeout   = 10 * time.Second   // for each answer while we sign in
	LoginTimeout     = 6 * ConnectTimeout // for all of them: to the question for TLS, the name, two proofs of a password, two of a transaction
	StatementTimeout = 15 * time.Second   // of an assessment's
)

// patience is how long we wait beyond the server's own statement timeout: a server that does
// not even enforce that is hanging. With a statement timeout of five seconds, a server that
// takes nine to answer is still measured. One that does not answer any more is known to be down
// within 30 seconds: ten until the next round, 9.2 for its statement, half a second, and ten
// for the connection after it.
const patience = 4200 * time.Millisecond

// Session is a connection to one database that only reads. It is one goroutine's at a time.
type Session interface {
	Database() string
	// Each runs one statement and calls take with each row as text; NULL is nil, and the bytes
	// are the caller's during the call only. An error of take ends it: take sees no further
	// row, and Each returns the error.
	//
	// A refusal of the server is a *Refusal; ErrTooMuch says that the answer was cut off, and the
	// connection with it.
	Each(ctx context.Context, statement Statement, take func(row [][]byte) error) error
	// SetTimeout bounds the statements that follow.
	SetTimeout(timeout time.Duration)
	// Closed says whether the connection is gone, so that no statement can be run.
	Closed() bool
	// Close says goodbye also when the look was cancelled.
	Close(ctx context.Context)
}

// Statement is what a session runs.
type Statement struct {
	Text    string
	Columns int // of every row, because the peer may be no database
	// List are the values that stand for @list in the text, where it is last, such as SQL_IDs: bytes in hexadecimal
	// and numbers on SQL Server. They go to the server as parameters. It keeps a plan for each text, so a list of
	// literals would be compiled at each look, and fill the cache that we measure. PostgreSQL takes none.
	List []string
	// Tables says that it reads tables of somebody, whose policies and functions may write: Oracle runs it in a
	// read-only transaction of its own. The server's own views need none, which saves three of four round trips, and
	// a rollback that counts as the users'. PostgreSQL has such a transaction anyway, and SQL Server knows none.
	Tables bool
}

// maxAnswer bounds the text of one answer. The longest honest one lists columns:
// 100,000 tables of ten are about 100 MB. What only pretends to be a server may
// send for as long as we wait.
const maxAnswer = 256 << 20

// perValue is what a value costs beside its text.
const perValue = 24

// ErrTooMuch says that an answer was longer than Muster takes in.
var ErrTooMuch = errors.New("the server answered more than Muster takes in")

// answer passes on the rows of an answer.
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

// Query returns the rows of a plain statement as text; NULL is "". Errors as Each's.
func Query(ctx context.Context, s Session, columns int, text string) ([][]string, error) {
	return Ask(ctx, s, Statement{Columns: columns, Text: text})
}

// Ask is Query for any statement.
func Ask(ctx context.Context, s Session, statement Statement) ([][]string, error) {
	var rows [][]string
	err := s.Each(ctx, statement, func(values [][]byte) error {
		row := make([]string, len(values))
		for i, value := range values {
			// A database may send whatever bytes it holds.
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
func Row(ctx context.Context, s Session, columns int, text string) ([]string, error) {
	rows, err := Query(ctx, s, columns, text)
	if err == nil && len(rows) != 1 {
		err = errors.New("the server answered other rows than asked for")
	}
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}
