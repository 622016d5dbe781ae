package serverstest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"muster/internal/servers"
)

// Answer is what a query is answered with.
type Answer struct {
	Rows [][]string // Null stands for NULL
	Err  error      // after the rows
	Cuts bool       // the session is closed after it
}

// Null is NULL in a row.
const Null = "\x00NULL"

// Session answers queries, which it knows by their first lines, and is a servers.Session.
type Session struct {
	Name    string // of its database
	Answers map[string]Answer
	Asked   []string // first lines, in order
	Tables  []string // those of them that read tables of somebody
	Timeout time.Duration
	closed  bool
}

// New returns a session on a database of that name that has no answer yet.
func New(database string) *Session {
	return &Session{Name: database, Answers: map[string]Answer{}}
}

// On has a query answered with rows from now on.
func (s *Session) On(query string, rows ...[]string) {
	s.Answers[FirstLine(query)] = Answer{Rows: rows}
}

// Fail has a query fail from now on.
func (s *Session) Fail(query string, err error) { s.Answers[FirstLine(query)] = Answer{Err: err} }

// FirstLine is what a query is known by: its first line that says something.
func FirstLine(query string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(query), "\n")
	return strings.TrimSpace(line)
}

// Database is the name of its database.
func (s *Session) Database() string { return s.Name }

// SetTimeout stores the timeout, for tests that read it.
func (s *Session) SetTimeout(timeout time.Duration) { s.Timeout = timeout }

// Closed says whether Close was called.
func (s *Session) Closed() bool { return s.closed }

// Close closes it.
func (s *Session) Close(context.Context) { s.closed = true }

// Each passes on the rows of the answer. A query without one, and rows of another width than
// expected, are errors.
func (s *Session) Each(ctx context.Context, statement servers.Statement, take func(row [][]byte) error) error {
	line := FirstLine(statement.Text)
	s.Asked = append(s.Asked, line)
	if statement.Tables {
		s.Tables = append(s.Tables, line)
	}
	if s.closed {
		return errors.New("the session is closed")
	}
	answer, ok := s.Answers[line]
	if !ok {
		return fmt.Errorf("nobody answers %q", line)
	}
	for _, row := range answer.Rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(row) != statement.Columns {
			return fmt.Errorf("%q: a row of %d columns, want %d", line, len(row), statement.Columns)
		}
		values := make([][]byte, len(row))
		for i, value := range row {
			if value != Null {
				values[i] = []byte(value)
			}
		}
		if err := take(values); err != nil {
			return err
		}
	}
	s.closed = answer.Cuts
	return answer.Err
}
