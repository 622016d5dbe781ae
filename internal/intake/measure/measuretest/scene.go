package measuretest

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/intake/measure"
	"muster/internal/measurements"
	"muster/internal/servers"
)

// scene is a server that is measured, and what it was told to do.
type scene struct {
	*testing.T
	Server
	home *Home
	one  *measure.Server
	log  strings.Builder

	states   map[string]State
	executed map[string]did // by database
	counted  map[string]did
	names    map[uuid.UUID]string // of databases, also of those that are gone

	takes  time.Duration // each query
	asked  int           // queries of this round
	fault  *fault
	shut   error    // the reason why no connection is possible
	heard  []string // the queries
	widths []int    // and how many columns each asked for
}

// did is what the statements of a database did.
type did struct {
	calls int64
	ms    float64
}

func newScene(t *testing.T, s Server) *scene {
	t.Helper()
	out := &scene{
		T: t, Server: s, home: &Home{To: s.Target(), Texts: true, Keeps: true},
		states: map[string]State{"app": Open, "crm": Open}, executed: make(map[string]did), counted: make(map[string]did),
		names: make(map[uuid.UUID]string),
	}
	out.measure()
	return out
}

// measure measures in a process of its own, which knows what the home kept.
func (s *scene) measure() {
	one := measure.New(measure.Config{
		Engine: s.Engine(), Organization: uuid.New(), Instance: uuid.New(), Home: s.home, Gate: measure.NewGate(1),
		Log: slog.New(slog.NewTextHandler(&s.log, nil)), Now: s.Clock().Now, Open: s.open,
	})
	s.one = one
	s.Cleanup(func() { one.Close(context.Background()) })
}

func (s *scene) open(ctx context.Context, to servers.Target, database string) (servers.Session, error) {
	if s.shut != nil {
		return nil, s.shut
	}
	session, err := s.Open(ctx, to, database)
	if err != nil {
		return nil, err
	}
	return &line{Session: session, scene: s}, nil
}

// execute has a statement executed, a moment later than what was before.
func (s *scene) execute(database, statement string, calls int, ms float64) {
	s.Helper()
	s.Clock().Advance(2 * time.Second)
	total := s.Execute(database, statement, calls, ms)
	d := s.executed[database]
	s.executed[database] = did{d.calls + int64(calls), d.ms + total}
}

// round is a look, a minute after the last one. What came is looked at in any case.
func (s *scene) round() (measurements.Batch, error) {
	s.Helper()
	s.Clock().Advance(time.Minute)
	s.Ready()
	s.asked, s.heard, s.widths = 0, nil, nil
	before := len(s.home.Batches)
	err := s.one.Round(s.Context())
	for name, id := range s.home.Known {
		s.names[id] = name
	}
	var b measurements.Batch
	for _, one := range s.home.Batches[before:] {
		b = one
		s.look(b)
	}
	if err != nil && leaks(err.Error()) || leaks(s.log.String()) {
		s.Errorf("the literal is in %v, or in the log:\n%s", err, s.log.String())
	}
	return b, err
}

// well is a round that nothing is wrong with.
func (s *scene) well() measurements.Batch {
	s.Helper()
	b, err := s.round()
	if err != nil {
		s.Fatal(err)
	}
	return b
}

// basis is a look before which nothing that matters was executed.
func (s *scene) basis() { s.Helper(); s.well() }

// exactly has another look, after which all that was executed since the last basis is
// counted: in lost of its databases it may be less.
func (s *scene) exactly(what string) measurements.Batch {
	s.Helper()
	b := s.well()
	s.same(what)
	return b
}

// same compares all that was counted with all that was executed.
func (s *scene) same(what string) {
	s.Helper()
	for database, executed := range s.executed {
		if got := s.counted[database]; got.calls != executed.calls || !near(got.ms, executed.ms) {
			s.Errorf("%s: counted %d calls of %g ms on %s, executed %d of %g", what, got.calls, got.ms, database, executed.calls, executed.ms)
		}
	}
}

// forget begins to count anew.
func (s *scene) forget() { clear(s.executed); clear(s.counted) }

func near(a, b float64) bool { return a-b < 1e-3 && b-a < 1e-3 }

// look holds what came to what always has to be.
func (s *scene) look(b measurements.Batch) {
	s.Helper()
	seen := make(map[uuid.UUID]bool)
	for _, one := range b.Sessions {
		name := s.names[one.Database]
		if name == "" || seen[one.Database] || s.states[name].closed() || one.Interval != s.Engine().SessionsEvery {
			s.Errorf("a sample of sessions of %q (%s): %+v", name, s.states[name], one)
		}
		seen[one.Database] = true
		if min(one.Active, one.Idle, one.Waiting, one.IdleInTransaction, one.Other) < 0 {
			s.Errorf("%s: %+v", name, one)
		}
	}
	clear(seen)
	for _, sample := range b.Statements {
		name := s.names[sample.Database]
		if name == "" || seen[sample.Database] || s.states[name].closed() || sample.Interval <= 0 || sample.BusyMs != nil && *sample.BusyMs < 0 {
			s.Errorf("a sample of statements of %q (%s): %+v", name, s.states[name], sample)
		}
		seen[sample.Database] = true
		s.count(name, sample.Statements)
	}
}

// count adds what statements did, and holds it to what was executed.
func (s *scene) count(database string, statements []measurements.Statement) {
	s.Helper()
	keys := make(map[string]bool)
	d := s.counted[database]
	for _, one := range statements {
		if keys[one.Key] || one.Key == "" || one.Calls <= 0 || one.TotalMs < 0 || one.MaxMs != nil && *one.MaxMs > one.TotalMs+1e-3 || leaks(one.Text) {
			s.Errorf("%s: %+v", database, one)
		}
		keys[one.Key] = true
		if one.Own { // the hourly look into each database
			continue
		}
		d.calls += one.Calls
		d.ms += one.TotalMs
	}
	s.counted[database] = d
	if _, ours := s.states[database]; !ours {
		return // of others, as the server's own
	}
	if of := s.executed[database]; d.calls > of.calls || d.ms > of.ms+1e-3 {
		s.Errorf("counted %d calls of %g ms on %s, and executed were %d of %g", d.calls, d.ms, database, of.calls, of.ms)
	}
}

// sessionsOf and statementsOf are the samples of a database; nil: it has none.
func (s *scene) sessionsOf(b measurements.Batch, database string) *measurements.SessionSample {
	for i := range b.Sessions {
		if s.names[b.Sessions[i].Database] == database {
			return &b.Sessions[i]
		}
	}
	return nil
}

func (s *scene) statementsOf(b measurements.Batch, database string) *measurements.StatementSample {
	for i := range b.Statements {
		if s.names[b.Statements[i].Database] == database {
			return &b.Statements[i]
		}
	}
	return nil
}

// fault is what happens to one query of a round.
type fault struct {
	at  int // which query
	err error
	// broken is what stands in a column of each row, instead of an error.
	broken []byte
	column int
	cut    bool // the connection goes, after a row
}

var errCut = errors.New("the connection was cut")

// line is a session that faults come over.
type line struct {
	servers.Session
	scene *scene
	gone  bool
}

func (l *line) Closed() bool { return l.gone || l.Session.Closed() }

func (l *line) Each(ctx context.Context, statement servers.Statement, take func(row [][]byte) error) error {
	s := l.scene
	f, at := s.fault, s.asked
	s.asked++
	s.heard, s.widths = append(s.heard, statement.Text), append(s.widths, statement.Columns)
	s.Clock().Advance(s.takes)
	if l.gone {
		return errCut
	}
	if f == nil || f.at != at {
		return l.Session.Each(ctx, statement, take)
	}
	if f.err != nil {
		return f.err
	}
	rows := 0
	err := l.Session.Each(ctx, statement, func(row [][]byte) error {
		if rows++; f.cut && rows > 1 {
			return nil
		}
		if !f.cut && f.column < len(row) { // the queries of a round are not always the same
			if row[f.column] = f.broken; f.broken != nil { // no two alike, as names are
				row[f.column] = strconv.AppendInt(slices.Clone(f.broken), int64(rows), 10)
			}
		}
		return take(row)
	})
	if f.cut {
		l.gone = true
		return errors.Join(errCut, err)
	}
	return err
}

func (l *line) Close(ctx context.Context) { l.gone = true; l.Session.Close(ctx) }
