package servers

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
)

// attentionPatience is how long a server has to confirm that it stops, after an attention. One that reads a query
// store may take seconds.
const attentionPatience = 3500 * time.Millisecond

// sqlServerSession is a Session on a SQL Server.
type sqlServerSession struct {
	database string
	timeout  time.Duration // of a statement
	conn     *mssql.Conn
	raw      net.Conn // what conn speaks over
	broken   bool
}

func (s *sqlServerSession) Database() string { return s.database }

func (s *sqlServerSession) SetTimeout(timeout time.Duration) { s.timeout = timeout }

func (s *sqlServerSession) Closed() bool { return s.broken }

// Close does not say goodbye: the protocol has no word for it.
func (s *sqlServerSession) Close(context.Context) {
	if s.broken {
		return
	}
	s.broken = true
	_ = s.conn.Close()
}

// leave gives the connection up. The driver's Close would return its buffer to a pool for
// the next connection, and a part of the driver may still be writing into it.
func (s *sqlServerSession) leave() {
	s.broken = true
	_ = s.raw.Close()
}

// Each tells the server to stop (an attention) when the statement's time is over, because SQL
// Server has no deadline of its own. A server that does not confirm that loses the connection.
func (s *sqlServerSession) Each(ctx context.Context, statement Statement, take func(row [][]byte) error) error {
	if s.broken {
		return errBroken
	}
	// The driver takes a deadline for a network failure, and the connection for lost; after a
	// cancellation it keeps the connection.
	limited, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	defer time.AfterFunc(s.timeout, cancel).Stop()
	answered := make(chan struct{})
	defer close(answered)
	context.AfterFunc(limited, func() {
		select {
		case <-answered:
		case <-time.After(attentionPatience):
			_ = s.raw.Close()
		}
	})
	a := answer{columns: statement.Columns, take: take}
	err := s.read(limited, statement, &a)
	if a.err != nil { // ours: nobody wants what the server says beside
		if errors.Is(a.err, ErrTooMuch) || err != nil {
			s.leave()
		}
		return a.err
	}
	return s.judge(ctx, limited, err)
}

// errBroken says that the connection is gone.
var errBroken = errors.New("the connection to the server is broken")

// judge makes what a statement failed with one of our errors.
func (s *sqlServerSession) judge(ctx, limited context.Context, err error) error {
	if err == nil {
		return nil
	}
	if numbers := sqlServerNumbers(err); len(numbers) > 0 {
		const fatal = 20 // the server has ended the session
		if answer, ok := errors.AsType[mssql.Error](err); ok && answer.Class >= fatal {
			s.leave()
		}
		return sqlServerRefusal(numbers)
	}
	if !errors.Is(err, context.Canceled) || !s.conn.IsValid() {
		s.leave() // it was cut, is of another protocol, or did not confirm that it stops
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return sqlServerRefusal([]int32{clientTimeout})
	}
	return errBroken
}

// ask sends a statement. The driver calls sp_executesql for one with a parameter. No statement reads the first.
func (s *sqlServerSession) ask(ctx context.Context, statement Statement) (driver.Rows, error) {
	list := padded(statement.List, 20, 200, 1000)
	text := placed(statement.Text, len(list), func(i int) string { return "@p" + strconv.Itoa(i+2) })
	args := []driver.NamedValue{{Ordinal: 1, Value: int64(0)}}
	for i, value := range list {
		arg, err := listValue(value)
		if err != nil {
			return nil, fmt.Errorf("a value of a list: %w", err)
		}
		args = append(args, driver.NamedValue{Ordinal: i + 2, Value: arg})
	}
	prepared, err := s.conn.PrepareContext(ctx, sqlServerSettings+text)
	if err != nil {
		return nil, err
	}
	return prepared.(driver.StmtQueryContext).QueryContext(ctx, args)
}

// listValue is a value of a list: bytes in hexadecimal, or a number.
func listValue(value string) (driver.Value, error) {
	if bytes, ok := strings.CutPrefix(value, "0x"); ok {
		return hex.DecodeString(bytes)
	}
	return strconv.ParseInt(value, 10, 64)
}

// read passes on the rows of the first answer to a statement.
func (s *sqlServerSession) read(ctx context.Context, statement Statement, a *answer) (err error) {
	rows, err := s.ask(ctx, statement)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	values := make([]driver.Value, len(rows.Columns()))
	row := make([][]byte, len(values))
	for {
		switch err := rows.Next(values); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		for i, value := range values {
			row[i] = inText(value)
		}
		if a.addRow(row); a.err != nil {
			return nil // closing the rows tells the server
		}
	}
}

// inText is a value as every engine's sessions give it. Bytes are a decimal number, which
// the driver leaves as text; queries make hex of others, and numbers of times.
func inText(value driver.Value) []byte {
	switch v := value.(type) {
	case nil:
		return nil
	case []byte:
		return v
	case string:
		return []byte(v)
	case int64:
		return strconv.AppendInt([]byte{}, v, 10)
	case float64:
		return strconv.AppendFloat([]byte{}, v, 'f', -1, 64)
	case bool:
		if v {
			return []byte("1")
		}
		return []byte("0")
	case time.Time:
		return strconv.AppendInt([]byte{}, v.UnixMicro(), 10)
	}
	return []byte{} // of a type that no query of ours asks for
}
