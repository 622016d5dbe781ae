package servers

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	goora "github.com/sijms/go-ora/v2"
	"github.com/sijms/go-ora/v2/network"
)

// oracleSession is a Session on an Oracle server.
type oracleSession struct {
	database string
	timeout  time.Duration // of a statement
	conn     *goora.Connection
	dials    *oracleDials
	closed   bool
}

func (s *oracleSession) Database() string { return s.database }

func (s *oracleSession) SetTimeout(timeout time.Duration) { s.timeout = timeout }

// Closed says whether the connection is gone, so that no statement can be run.
func (s *oracleSession) Closed() bool { return s.closed }

// Close says goodbye also when the look was cancelled.
func (s *oracleSession) Close(ctx context.Context) {
	if s.closed {
		return
	}
	s.closed = true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	defer s.dials.close()
	defer s.dials.wire.bound(ctx)()
	_ = s.call(s.conn.Close)
}

// Each interrupts a statement that takes too long on the server. After anything but an answer, the
// connection is given up, because data that is still under way on it would be taken for the
// next answer.
func (s *oracleSession) Each(ctx context.Context, statement Statement, take func(row [][]byte) error) error {
	if s.closed {
		return errLost
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout+patience)
	defer cancel()
	defer s.dials.wire.bound(ctx)()
	s.dials.wire.allow(maxAnswer)
	a := answer{columns: statement.Columns, take: take}
	err := s.call(func() error { return s.run(ctx, statement, &a) })
	said, refused := errors.AsType[*network.OracleError](err)
	if err != nil && (!refused || said.Bad() || said.ErrCode == oraInterrupted) {
		s.closed = true
		s.dials.close()
	}
	switch {
	case a.err != nil:
		return a.err
	case err == nil:
		return nil
	case refused:
		return oracleRefusal(said.ErrCode)
	}
	switch err = s.dials.failure(ctx, err); {
	case ctx.Err() != nil || isTimeout(err) || errors.Is(err, ErrTooMuch):
		return err
	case isCut(err):
		return errLost
	}
	return errGarbled
}

// Why a session is given up. What the driver says of it differs with every byte.
var (
	errLost    = errors.New("the connection to the server was lost")
	errGarbled = errors.New("the server answered in a way that the driver does not understand")
)

// ours is what each of our statements begins with, by which it is left out of what is measured. The comments of files
// are not sent (bare).
const ours = "/* muster */ "

// run hands the rows of a statement to a. A transaction is never committed.
func (s *oracleSession) run(ctx context.Context, statement Statement, a *answer) error {
	if !statement.Tables {
		return s.query(ctx, statement, a)
	}
	tx, err := s.conn.Begin() // BeginTx refuses to be read-only
	if err != nil {
		return err
	}
	if _, err := s.conn.Exec(ours + "SET TRANSACTION READ ONLY"); err != nil {
		return err
	}
	if err := s.query(ctx, statement, a); err != nil {
		if is[*network.OracleError](err) {
			_ = tx.Rollback()
		}
		return err
	}
	return tx.Rollback()
}

func (s *oracleSession) query(ctx context.Context, statement Statement, a *answer) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	list := padded(statement.List, 20, 100, 500)
	text := ours + placed(bare(statement.Text), len(list), func(i int) string { return ":" + strconv.Itoa(i+1) })
	var args []driver.NamedValue
	for i, value := range list {
		args = append(args, driver.NamedValue{Ordinal: i + 1, Value: value})
	}
	rows, err := s.conn.QueryContext(ctx, text, args)
	if err != nil {
		return err
	}
	defer s.dials.wire.bound(ctx)() // the driver interrupts while it waits for the first rows only
	row := make([]driver.Value, len(rows.Columns()))
	for a.err == nil {
		if err = rows.Next(row); err != nil {
			break
		}
		values := make([][]byte, len(row))
		for i, value := range row {
			if values[i], err = asText(value); err != nil {
				return err
			}
		}
		a.addRow(values)
	}
	if errors.Is(a.err, ErrTooMuch) {
		return ErrTooMuch // nobody waits for the rest
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return rows.Close()
}

// asText is a value as text; nil: NULL, which an empty text is to Oracle. Numbers come from
// the driver as their digits. A query gives times and bytes as text itself.
func asText(value driver.Value) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return nil, nil
	case string:
		return []byte(v), nil
	case int64:
		return strconv.AppendInt(nil, v, 10), nil
	case float64:
		return strconv.AppendFloat(nil, v, 'f', -1, 64), nil
	}
	return nil, errors.New("the server answered with a type that queries do not ask for")
}

// call runs a part of the driver, which panics on packets that are shorter than they say.
func (s *oracleSession) call(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errGarbled
		}
	}()
	return do()
}

// bare is a statement without the comment that it begins with: the driver takes the
// apostrophe in one for the beginning of a text, and what follows for no query.
func bare(statement string) string {
	for {
		statement = strings.TrimSpace(statement)
		line, rest, _ := strings.Cut(statement, "\n")
		if !strings.HasPrefix(line, "--") {
			return statement
		}
		statement = rest
	}
}
