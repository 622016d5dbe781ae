package measure_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/measurements"
	"muster/internal/measurements/blocking"
	"muster/internal/measurements/replication"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
	"muster/internal/testing/clocktest"
	"muster/internal/watch"
)

// idle is a reader of a server on which nothing happens.
type idle struct{}

func (idle) Activity(ctx context.Context, l *measure.Line) (*measure.Activity, error) {
	return &measure.Activity{}, l.Each(ctx, servers.Statement{Columns: 1, Text: "SELECT sessions"}, func([][]byte) error { return nil })
}
func (idle) Replication(context.Context, *measure.Line, time.Time) (*replication.State, error) {
	return nil, nil
}
func (idle) Freed(context.Context, *measure.Line, blocking.Node, time.Time) (blocking.End, error) {
	return "", nil
}
func (idle) Blocking(context.Context, *measure.Line, time.Time, bool) (*blocking.Look, error) {
	return nil, nil
}
func (idle) Signs(context.Context, *measure.Line) ([]watch.Sign, error)       { return nil, nil }
func (idle) Figures(context.Context, *measure.Line) ([]measure.Figure, error) { return nil, nil }
func (idle) Statements(context.Context, *measure.Line) (*measure.List, error) { return nil, nil }
func (idle) Texts(context.Context, *measure.Line, []measure.Ref) (map[measure.Ref]string, error) {
	return nil, nil
}
func (idle) Missing() ([]snapshot.MissingGrant, bool) { return nil, false }
func (idle) Name(measure.Statement) string            { return "" }

// ending is a session that ends with an error.
type ending struct {
	*serverstest.Session
	with error
}

func (e *ending) Each(ctx context.Context, statement servers.Statement, take func([][]byte) error) error {
	if e.with != nil {
		return e.with
	}
	return e.Session.Each(ctx, statement, take)
}
func (e *ending) Closed() bool { return e.with != nil }

// TestReached: a server whose sessions are read every 30 seconds is asked every ten whether it
// answers. When it ends, its last words and the time are kept over every refused attempt.
func TestReached(t *testing.T) {
	t.Parallel()
	clock := clocktest.At(time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC))
	session := &ending{Session: serverstest.New("app")}
	session.On("SELECT sessions")
	session.On("SELECT 1", []string{"1"})
	var refuses error
	home := &measuretest.Home{}
	server := measure.New(measure.Config{
		Engine:   measure.Engine{Name: fleet.SQLServer, SessionsEvery: 30 * time.Second, StatementsEvery: time.Minute, NewReader: func() measure.Reader { return idle{} }},
		Instance: uuid.MustParse("00000000-0000-7000-8000-000000000000"), Home: home, Gate: measure.NewGate(1),
		Open: func(context.Context, servers.Target, string) (servers.Session, error) { return session, refuses },
		Log:  slog.New(slog.DiscardHandler), Now: clock.Now,
	})
	connection := func() measurements.Reached {
		t.Helper()
		all := home.Batches[len(home.Batches)-1].Reached
		at := slices.IndexFunc(all, func(r measurements.Reached) bool { return r.Part == "" })
		if at < 0 {
			t.Fatalf("nothing is said of the connection: %+v", all)
		}
		return all[at]
	}
	for range 3 {
		if err := server.Turn(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r := connection(); !r.Up || !r.At.Equal(clock.Now()) {
			t.Errorf("at %s it is %+v", clock.Now(), r)
		}
		clock.Advance(3 * time.Second)
	}
	if asked := slices.Compact(session.Asked); !slices.Contains(asked, "SELECT 1") || len(session.Asked) != 3 {
		t.Errorf("it is asked %q", session.Asked)
	}
	clock.Advance(time.Minute)
	session.with = &servers.Refusal{Engine: fleet.PostgreSQL, Code: "SQLSTATE 57P01", Words: "terminating connection due to administrator command"}
	broke := clock.Now()
	if err := server.Turn(t.Context()); err == nil {
		t.Error("a lost connection is no error")
	}
	refuses = &servers.ConnectionError{Class: servers.ClassRefused, Sentence: "Connection refused at db01:1433."}
	for range 3 {
		clock.Advance(5 * time.Second)
		if err := server.Turn(t.Context()); err == nil {
			t.Error("a refused connection is no error")
		}
		r := connection()
		if r.Up || r.Code != "57P01" || !r.Since.Equal(broke) || !strings.HasSuffix(r.Sentence, "Its last words: 57P01 terminating connection due to administrator command.") {
			t.Errorf("it is %+v, and broke at %s", r, broke)
		}
	}
}

// TestAClockThatStandsStill: a server whose sessions are read every ten seconds is asked nothing
// between two rounds. The query of SQL Server would be an error on Oracle.
func TestAClockThatStandsStill(t *testing.T) {
	t.Parallel()
	clock := clocktest.At(time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC))
	session := serverstest.New("app")
	session.On("SELECT sessions")
	server := measure.New(measure.Config{
		Engine:   measure.Engine{Name: fleet.Oracle, SessionsEvery: 10 * time.Second, StatementsEvery: 20 * time.Second, NewReader: func() measure.Reader { return idle{} }},
		Instance: uuid.MustParse("00000000-0000-7000-8000-000000000000"), Home: &measuretest.Home{}, Gate: measure.NewGate(1),
		Open: func(context.Context, servers.Target, string) (servers.Session, error) { return session, nil },
		Log:  slog.New(slog.DiscardHandler), Now: clock.Now,
	})
	for range 3 {
		if err := server.Turn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(session.Asked, []string{"SELECT sessions"}) {
		t.Errorf("it is asked %q", session.Asked)
	}
}
