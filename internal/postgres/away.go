package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ConnectionLostError says that a connection to the database broke while it was in use:
// the server died or was stopped, or the network between went away. What was
// under way may or may not have been done. It is a net.Error, for those who may not
// know this package.
type ConnectionLostError struct{ Err error }

var _ net.Error = (*ConnectionLostError)(nil)

func (e *ConnectionLostError) Error() string {
	return "the connection to the database was lost: " + e.Err.Error()
}

func (e *ConnectionLostError) Unwrap() error { return e.Err }

// Timeout says that the connection broke before any deadline.
func (e *ConnectionLostError) Timeout() bool { return false }

// Temporary says that the same may work later.
func (e *ConnectionLostError) Temporary() bool { return true }

// Away recognizes that a database does not answer, is starting, or is stopping, so that the
// same is worth trying again. That covers a connection that cannot be made or obtained in time,
// a lost connection, the messages of a server that is going down or coming up (SQLSTATE class
// 08 and 57P), and those of one that has become a standby. It judges by type and never by text.
// A database that refuses a statement is not away.
func Away(err error) bool {
	var (
		connect *pgconn.ConnectError
		lost    *ConnectionLostError
		server  *pgconn.PgError
	)
	switch {
	case err == nil:
		return false
	case errors.As(err, &connect), errors.As(err, &lost):
		return true
	case errors.As(err, &server):
		return strings.HasPrefix(server.Code, "08") || strings.HasPrefix(server.Code, "57P") || server.Code == readOnly
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, sql.ErrConnDone), errors.Is(err, context.DeadlineExceeded):
		return true
	}
	return pgconn.SafeToRetry(err) // of a connection that is closed already
}

// readOnly is the SQLSTATE of a write to a standby, or to a server that is about to hand
// over to one.
const readOnly = "25006"

// serves says whether a connection is worth keeping after an error of the server's: not
// if it is over, nor if the server takes no writes. The next one is made to whichever
// host of the URL takes them.
func serves(_ *pgconn.PgConn, err *pgconn.PgError) bool {
	return !strings.EqualFold(err.Severity, "FATAL") && err.Code != readOnly
}

// markLost makes every failure of a connection of config's a *ConnectionLostError. pgx passes
// on the network's error, which is often io.ErrUnexpectedEOF: by itself it may as well come
// from a file.
func markLost(config *pgxpool.Config) {
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			giveUpSilence(tcp)
		}
		return lossyConn{conn}, nil
	}
}

// lossyConn names what breaks a connection.
type lossyConn struct{ net.Conn }

func (c lossyConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	return n, lost(err)
}

func (c lossyConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	return n, lost(err)
}

// lost leaves timeouts alone: pgx sets deadlines to end a statement, and says itself
// what that means.
func lost(err error) error {
	var timeout net.Error
	if err == nil || errors.As(err, &timeout) && timeout.Timeout() {
		return err
	}
	return &ConnectionLostError{Err: err}
}
