package truth

import (
	"context"
	"time"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
	"muster/internal/testing/clocktest"
)

// server is a simulated one. It keeps its statistics as the vendor's documentation says,
// answers the queries of our readers with them, and shows them to the peers.
type server interface {
	engine() measure.Engine
	// execute counts an execution that ends now.
	execute(e Execution)
	// rows answers one of our queries, known by its first line, in a database.
	rows(database, line, statement string) ([][]string, error)
	// key is how our reader names the statement of an execution, in its database.
	key(e Execution) string
	// tellsMaximum says whether it tells how long the longest one took, in an interval.
	tellsMaximum(e Execution) bool
	// deny takes the grants from everybody who watches, and gives them back.
	deny(denied bool)
	// failover is another server in its place, which has a history of its own.
	failover()
}

// machine is what all of them have.
type machine struct {
	clock   *clocktest.Clock
	skew    time.Duration // that its own clock is ahead
	ahead   time.Duration // that its local time is, of UTC
	started time.Time     // by its own clock
	denied  bool
	waiting int    // sessions in app that wait for a lock
	stage   *stage // what its sessions do instead; nil: nothing else
}

func newMachine(clock *clocktest.Clock) machine {
	return machine{clock: clock, ahead: 2 * time.Hour, started: clock.Now().Add(-240 * time.Hour), waiting: 4}
}

func (m *machine) deny(denied bool) { m.denied = denied }

// now is what its clock says, in microseconds since 1970.
func (m *machine) now() int64 { return m.clock.Now().Add(m.skew).UnixMicro() }

// local is that in its local time, which it writes down without a zone.
func (m *machine) local() int64 { return m.now() + m.ahead.Microseconds() }

// session is a connection to it.
type session struct {
	*serverstest.Session
	of server
}

// Each asks the server for its rows as they are now.
func (s *session) Each(ctx context.Context, statement servers.Statement, take func(row [][]byte) error) error {
	rows, err := s.of.rows(s.Name, serverstest.FirstLine(statement.Text), statement.Text)
	s.On(statement.Text, rows...)
	if err != nil {
		s.Fail(statement.Text, err)
	}
	return s.Session.Each(ctx, statement, take)
}

// refused is what a server says to somebody who may not.
func refused(engine fleet.Engine, code string) error {
	return &servers.Refusal{Engine: engine, Code: code, Reason: servers.Denied}
}

// answers are those to our queries by their first lines.
type answers map[string]func(statement string) ([][]string, error)

// always answers with the same rows.
func always(rows ...[]string) func(string) ([][]string, error) {
	return func(string) ([][]string, error) { return rows, nil }
}
