package measure_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/measurements/blocking"
	"muster/internal/measurements/replication"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
	"muster/internal/testing/clocktest"
	"muster/internal/watch"
)

// failing is a reader whose parts fail when told to.
type failing struct {
	idle
	sessions, signs, statements error
	list                        *measure.List
}

func (f *failing) Activity(ctx context.Context, l *measure.Line) (*measure.Activity, error) {
	if f.sessions != nil {
		return nil, f.sessions
	}
	return f.idle.Activity(ctx, l)
}
func (*failing) Replication(context.Context, *measure.Line, time.Time) (*replication.State, error) {
	return nil, nil
}
func (*failing) Freed(context.Context, *measure.Line, blocking.Node, time.Time) (blocking.End, error) {
	return "", nil
}
func (*failing) Blocking(context.Context, *measure.Line, time.Time, bool) (*blocking.Look, error) {
	return nil, nil
}
func (f *failing) Signs(context.Context, *measure.Line) ([]watch.Sign, error) { return nil, f.signs }
func (f *failing) Statements(context.Context, *measure.Line) (*measure.List, error) {
	return f.list, f.statements
}

// TestATroubleIsLoggedOnce: each part of a server that cannot be measured is one line with its
// reason, however often it fails and whatever fails beside, and one when it is mended.
func TestATroubleIsLoggedOnce(t *testing.T) {
	t.Parallel()
	clock := clocktest.At(time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC))
	session := &ending{Session: serverstest.New("app")}
	session.On("SELECT sessions")
	var refuses error
	reader, home := &failing{list: &measure.List{}}, &measuretest.Home{}
	var log strings.Builder
	server := measure.New(measure.Config{
		Engine:   measure.Engine{Name: fleet.PostgreSQL, SessionsEvery: 10 * time.Second, StatementsEvery: time.Minute, NewReader: func() measure.Reader { return reader }},
		Instance: uuid.New(), Home: home, Gate: measure.NewGate(1),
		Open: func(context.Context, servers.Target, string) (servers.Session, error) { return session, refuses },
		Log:  slog.New(slog.NewTextHandler(&log, nil)).With("server", "pg-01"), Now: clock.Now,
	})
	twoMinutes := func(what string, want ...string) {
		t.Helper()
		log.Reset()
		for range 12 {
			_ = server.Turn(t.Context())
			clock.Advance(10 * time.Second)
		}
		said := strings.Split(strings.TrimSpace(log.String()), "\n")
		if log.Len() == 0 {
			said = nil
		}
		ok := len(said) == len(want)
		for n := range min(len(said), len(want)) {
			level, rest, _ := strings.Cut(want[n], " ")
			ok = ok && strings.Contains(said[n], "level="+level) && strings.Contains(said[n], "server=pg-01") && strings.Contains(said[n], rest)
		}
		if !ok {
			t.Errorf("%s: logged\n%s\nwant %q", what, log.String(), want)
		}
	}
	refuses = &servers.ConnectionError{Class: servers.ClassAuthentication, Sentence: "The password was refused by db01:5432.", Code: "28P01"}
	twoMinutes("a wrong password", `WARN part=connection reason="authentication: The password was refused by db01:5432. (28P01)"`)
	twoMinutes("still the same")
	refuses = nil
	twoMinutes("the right one", `INFO part=connection`)
	reader.list = nil
	twoMinutes("no statement statistics", `WARN part=statements reason="the server has no statement statistics that Muster's account may read"`)
	reader.signs = &servers.Refusal{Engine: fleet.PostgreSQL, Code: "SQLSTATE 42501", Reason: servers.Denied}
	twoMinutes("and no locks", `WARN part=signs reason="Muster's account may not read it. (SQLSTATE 42501)"`)
	reader.sessions = context.DeadlineExceeded
	twoMinutes("and no sessions", `WARN part=sessions reason="context deadline exceeded"`)
	reader.list, reader.signs, reader.sessions = &measure.List{}, nil, nil
	twoMinutes("all are mended", `INFO part=sessions`, `INFO part=signs`, `INFO part=statements`)
	home.Fail = errors.New("no space left on device")
	twoMinutes("it cannot be kept once", `WARN part=keeping reason="no space left on device"`, `INFO part=keeping`)

	gone := &servers.Refusal{Engine: fleet.PostgreSQL, Code: "SQLSTATE 57P01", Words: "terminating connection due to administrator command"}
	session.with = gone
	refuses = &servers.ConnectionError{Class: servers.ClassRefused, Sentence: "Connection refused at db01:5432."}
	reader.sessions = gone
	twoMinutes("a server is stopped", `WARN part=connection reason="refused: Connection refused at db01:5432."`)
	refuses, reader.sessions, session.with = nil, nil, nil
	twoMinutes("and started", `INFO part=connection`)
	refuses, session.with = &servers.ConnectionError{Class: servers.ClassRefused, Sentence: "Connection refused at db01:5432."}, gone
	reader.sessions = gone
	twoMinutes("and stopped again", `WARN part=connection`)
	refuses = &servers.ConnectionError{Class: servers.ClassDatabase, Sentence: "There is no database app at db01:5432."}
	twoMinutes("it is back without the database", `WARN part=connection reason="database: There is no database app`)
}

// TestTheLogNamesNoAccount: of a connection that the server refuses it has the class and the code. The server's
// sentence names the account.
func TestTheLogNamesNoAccount(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	troubles := measure.Troubles{Log: slog.New(slog.NewTextHandler(&log, nil)), Unnamed: true}
	troubles.Note(t.Context(), "connection", &servers.ConnectionError{Class: servers.ClassAuthentication, Sentence: `db01 does not let user "ana" in.`, Code: "28P01"})
	if said := log.String(); strings.Contains(said, "ana") || !strings.Contains(said, `reason="authentication (28P01)"`) {
		t.Errorf("it logs %s", said)
	}
}
