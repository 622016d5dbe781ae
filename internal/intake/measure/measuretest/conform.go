package measuretest

import (
	"context"
	"strings"
	"testing"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/servers"
	"muster/internal/testing/clocktest"
)

// Server is the server under test: it does what it is told.
type Server interface {
	Engine() measure.Engine
	Target() servers.Target
	// Open opens a session, as the target does; without a wire, on the simulated server.
	Open(ctx context.Context, to servers.Target, database string) (servers.Session, error)
	Has() Features
	Clock() *clocktest.Clock // ours
	Ready()                  // a round begins: answers are as things are now

	Create(database string)
	Drop(database string)
	Put(database string, s State)
	// Execute executes a statement so often, each for so many ms, and says how long it
	// took by the server.
	Execute(database, statement string, calls int, ms float64) (totalMs float64)
	Connect(database string, s Sessions) // and no other session is on it
	Evict(database, statement string)    // its counters
	Reset()                              // all counters
	Restart()
	Skew(d time.Duration) // the server's clock, against ours
	Take(p Part)          // from the account
	Give(p Part)
}

// Features are what a server tells.
type Features struct {
	Longest bool    // the longest execution
	Busy    bool    // how long a database was executing
	Born    bool    // since when the counters of a statement are there
	Cleared bool    // that all counters were reset
	Exact   bool    // it executes for as long as it is told to, by a clock of its own
	Lock    string  // what a session waits for that waits for a lock
	States  []State // that its databases can be in, beside Open
	Parts   []Part  // that an account may lack
}

// State is whether a database can be worked in.
type State string

// The states.
const (
	Open       State = "open"
	ReadOnly   State = "read-only"
	Recovering State = "in recovery"
	Offline    State = "offline"
)

// closed says whether a database accepts no sessions.
func (s State) closed() bool { return s == Recovering || s == Offline }

// Part is what an account may be allowed to read.
type Part struct {
	Name                 string
	Sessions, Statements bool   // it costs these
	Grant                string // is what the missing grant says
}

// Sessions are the sessions on a database by state. A waiting session waits for a lock that a
// session in a transaction holds.
type Sessions struct{ Active, Idle, InTransaction, Waiting, Other int64 }

// Conform tests the promises with the servers that start returns; each has two unused
// databases, app and crm. Features says what they can tell.
func Conform(t *testing.T, start func(t *testing.T) Server) {
	t.Helper()
	for name, promise := range map[string]func(*scene){
		"a first look is a basis":                   aFirstLookIsABasis,
		"what was executed is counted":              whatWasExecutedIsCounted,
		"what was not kept is counted later":        whatWasNotKeptIsCountedLater,
		"another process goes on":                   anotherProcessGoesOn,
		"counters are evicted":                      countersAreEvicted,
		"counters are reset":                        countersAreReset,
		"the server is restarted":                   theServerIsRestarted,
		"sessions are split":                        sessionsAreSplit,
		"our own sessions do not count":             ourOwnSessionsDoNotCount,
		"databases come and go":                     databasesComeAndGo,
		"databases are in states":                   databasesAreInStates,
		"names survive":                             namesSurvive,
		"texts lose their literals":                 textsLoseTheirLiterals,
		"grants are taken away":                     grantsAreTakenAway,
		"the login is refused":                      theLoginIsRefused,
		"the server is away for three days":         theServerIsAway,
		"clocks move":                               clocksMove,
		"a sample spans both looks":                 aSampleSpansBothLooks,
		"any query fails, and any answer is broken": anyQueryFails,
	} {
		t.Run(name, func(t *testing.T) { promise(newScene(t, start(t))) })
	}
	t.Logf("it tells: %+v", start(t).Has())
}

// secret is the literal in the text of each statement.
const secret = "hunter2"

// Text is that of a statement, with a literal that must not leave the reader.
func Text(statement string) string { return "SELECT '" + secret + "' AS " + statement }

// kept is the text of a statement as it may be kept.
func kept(statement string) string { return "SELECT ? AS " + statement }

// leaks says whether the literal stands in a text.
func leaks(text string) bool { return strings.Contains(text, secret) }
