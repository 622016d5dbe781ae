package servers

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"muster/domain/fleet"
)

// Target is one server: everything that a connection needs. Nothing is filled in from Muster's
// environment. Only one from a Reach can be connected; one from Parse is a description.
type Target struct {
	Engine   fleet.Engine
	Host     string // name, address, or the directory of a Unix socket
	Port     uint16
	User     string
	Password string
	Database string // where the first connection goes
	TLS      string // the mode, as the engine's own tools name it

	sqlServer sqlServerOptions // of that engine
	oracle    oracleOptions    // of that engine

	reach *Reach
	own   bool // the installation registered it itself
	seen  func(Session) Session
}

// DSNError says what is wrong with a connection string. It never repeats it:
// whatever part is malformed may hold the password.
type DSNError struct{ Problem string }

func (e *DSNError) Error() string { return "connection string: " + e.Problem }

// UnknownEngineError says that Muster cannot connect to an engine by itself.
type UnknownEngineError struct{ Engine fleet.Engine }

func (e *UnknownEngineError) Error() string {
	return fmt.Sprintf("engine %q has no collector yet", string(e.Engine))
}

// engine is how servers of one kind are reached.
type engine struct {
	parse func(dsn string) (Target, error)
	open  func(ctx context.Context, t Target, database string, timeout time.Duration) (Session, error)
	names naming
}

// engines are reached by the files that begin with their names.
var engines = map[fleet.Engine]engine{
	fleet.PostgreSQL: {parse: parsePostgreSQL, open: openPostgreSQL, names: postgreSQLNames},
	fleet.SQLServer:  {parse: parseSQLServer, open: openSQLServer, names: sqlServerNames},
	fleet.Oracle:     {parse: parseOracle, open: openOracle, names: oracleNames},
}

// Known says whether Muster can connect to an engine.
func Known(e fleet.Engine) bool {
	_, known := engines[e]
	return known
}

// Parse reads the connection string of an engine's server. Errors: *DSNError,
// *UnknownEngineError.
func Parse(e fleet.Engine, dsn string) (Target, error) {
	known, ok := engines[e]
	if !ok {
		return Target{}, &UnknownEngineError{Engine: e}
	}
	t, err := known.parse(dsn)
	if err != nil {
		return Target{}, unrepeated(dsn, err)
	}
	t.Engine = e
	return t, nil
}

// unrepeated is the error of a connection string without a parameter that may be the end of a
// password: if a ? in a password is not escaped, the parameter contains the @ and the host
// after it.
func unrepeated(dsn string, err error) error {
	_, parameters, _ := strings.Cut(dsn, "?")
	if unreadable, ok := errors.AsType[*DSNError](err); ok && strings.Contains(parameters, "@") && strings.Contains(unreadable.Problem, `"`) {
		return &DSNError{"it has a parameter that is not accepted; a ? in the user name or password must be written as %3F"}
	}
	return err
}

// Open opens a session on one of the target's databases. It only reads, and a statement
// ends after timeout. Where the target's Reach does not lead there, nothing is dialled.
// The error is always a *ConnectionError.
func (t Target) Open(ctx context.Context, database string, timeout time.Duration) (Session, error) {
	s, err := engines[t.Engine].open(ctx, t, database, timeout)
	if err == nil && t.seen != nil {
		s = t.seen(s)
	}
	return s, err
}

// Seen is the target with observed sessions: each new session goes through by.
func (t Target) Seen(by func(Session) Session) Target {
	t.seen = by
	return t
}

// Socket says whether the target is reached through a Unix socket.
func (t Target) Socket() bool { return strings.HasPrefix(t.Host, "/") }

// Address is where the target listens, for people to read.
func (t Target) Address() string {
	port := strconv.Itoa(int(t.Port))
	if t.sqlServer.instance != "" {
		return t.Host + `\` + t.sqlServer.instance
	}
	if t.Socket() {
		return t.Host + "/.s.PGSQL." + port
	}
	if a, err := netip.ParseAddr(t.Host); err == nil && a.Is6() {
		return "[" + t.Host + "]:" + port
	}
	return t.Host + ":" + port
}

// Warning says what a connection string gives away; empty: nothing.
func (t Target) Warning() string {
	if t.Engine == fleet.SQLServer && t.TLS == EncryptDisable {
		return "With encrypt=disable, the password crosses the network readable. A server without a certificate of its own has encrypt=false, which encrypts the login."
	}
	return ""
}

// HostName is what to show as the instance's host where the person who
// registered it gave none.
func (t Target) HostName() string {
	if t.Socket() {
		return "localhost"
	}
	return t.Host
}
