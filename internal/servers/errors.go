package servers

import (
	"cmp"
	"context"
	"errors"
	"net"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"muster/domain/fleet"
)

// Classes of a connection that did not come about.
const (
	ClassRefused        = "refused"
	ClassTimeout        = "timeout"
	ClassAuthentication = "authentication"
	ClassTLS            = "tls"
	ClassDatabase       = "database"
	ClassNotAllowed     = "not_allowed" // this installation does not connect there
)

// ConnectionError says in one of six classes why a server was not reached. It
// wraps nothing: the driver's text names the user and may quote the server.
type ConnectionError struct {
	Class    string
	Sentence string // for people; no password, and of the server only what isPlain lets through
	Code     string // the server's own (53300, 18456, ORA-12514), or dns; may be empty
	Cause    string // why TLS failed, from a closed list; may be empty
}

// Stages of a connection.
const (
	StageDial     = "dial"     // no connection to the address
	StageGreeting = "greeting" // connected, and nothing of the engine's came
	StageTLS      = "tls"
	StageLogin    = "login" // the server, or its listener, refused by a number of its own
)

// Stage is how far a connection came; empty if it is not known: a server that does not answer does not tell.
func (e *ConnectionError) Stage() string {
	switch {
	case e.Class == ClassTLS:
		return StageTLS
	case e.Class == ClassTimeout:
		return ""
	case e.Class == ClassAuthentication, e.Code != "" && e.Code != codeDNS:
		return StageLogin
	case e.Class == ClassDatabase:
		return StageGreeting
	}
	return StageDial
}

// codeDNS is the code of a name that was not found.
const codeDNS = "dns"

// Reason is the code that says most: the server's own, or else the class.
func (e *ConnectionError) Reason() string { return cmp.Or(e.Code, e.Class) }

func (e *ConnectionError) Error() string { return e.Class + ": " + e.Sentence }

// Reason is why a server refused a query.
type Reason string

// The reasons.
const (
	Denied   Reason = "denied"    // our account may not
	Absent   Reason = "absent"    // the server has no such view, column or function
	TimedOut Reason = "timed out" // the server gave up, on the statement or on a lock
	Failed   Reason = "failed"    // anything else
)

// Refusal is a server's refusal of a query, by what the engine numbers it with. What the
// server said beside stays out of it: its text may quote data, or name its users.
type Refusal struct {
	Engine fleet.Engine
	Code   string // SQLSTATE 42501, error 229, ORA-00942
	Reason Reason
	Words  string // the server's own, where it said goodbye; else empty
}

func (e *Refusal) Error() string { return e.Code }

// ReasonOf is why a query gave nothing. It is empty where no server said so: the
// connection broke.
func ReasonOf(err error) Reason {
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return refusal.Reason
	}
	var timeout net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() || pgconn.Timeout(err) {
		return TimedOut
	}
	return ""
}

// notFound is the error of an address with an unknown name.
func notFound(address string) *ConnectionError {
	return &ConnectionError{Class: ClassRefused, Code: codeDNS, Sentence: "The name of " + address + " was not found: check the spelling and the name server."}
}

// goodbyes are the SQLSTATEs of a PostgreSQL server that ends a session, or takes none. Their
// messages quote no data: which shutdown, which limit, whose slots.
var goodbyes = []string{"57P01", "57P02", "57P03", "53300"} //nolint:gochecknoglobals // a constant

// isPlain says whether a message may be shown.
func isPlain(code string) bool { return slices.Contains(goodbyes, code) }

// is says whether an error is, or wraps, one of a type.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
