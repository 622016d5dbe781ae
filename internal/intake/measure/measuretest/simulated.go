package measuretest

import (
	"hash/fnv"
	"slices"
	"testing"
	"time"

	"muster/internal/testing/clocktest"
)

// Simulated is what a server has, of whatever engine: the rest of a Server is how an engine
// tells it. Its own times are by its own clock.
type Simulated struct {
	TB        testing.TB
	Time      *clocktest.Clock // ours
	Ahead     time.Duration    // its clock, of ours
	Starts    int              // how often it was started
	ResetAt   time.Time        // when all counters were
	Databases []*Database
	Taken     map[string]bool // parts, by name

	database, statement int // numbers that were given
}

// Database is one of its.
type Database struct {
	ID         int // never that of another one
	Name       string
	State      State
	Sessions   Sessions
	Statements []*Statement
	BusyMs     float64
}

// Statement are the counters of one, since they were begun.
type Statement struct {
	ID        int // of these counters, never that of others
	Of        uint64
	Text      string
	Calls     int
	Ms, MaxMs float64
	Born      time.Time
}

// NewSimulated is a server with the databases that Conform expects, and its own one.
func NewSimulated(t testing.TB, home string) *Simulated {
	began := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	s := &Simulated{
		TB: t, Time: clocktest.At(began), Starts: 1, ResetAt: began.Add(-time.Hour), Taken: make(map[string]bool), database: 2, statement: 100,
	}
	for _, name := range []string{home, "app", "crm"} {
		s.Create(name)
	}
	return s
}

// Clock is ours.
func (s *Simulated) Clock() *clocktest.Clock { return s.Time }

// Now is the server's clock.
func (s *Simulated) Now() time.Time { return s.Time.Now().Add(s.Ahead) }

// Create creates a database.
func (s *Simulated) Create(name string) {
	s.database++
	s.Databases = append(s.Databases, &Database{ID: s.database, Name: name, State: Open})
}

// Drop drops one.
func (s *Simulated) Drop(name string) {
	s.Databases = slices.DeleteFunc(s.Databases, func(d *Database) bool { return d.Name == name })
}

// Named is a database.
func (s *Simulated) Named(name string) *Database {
	s.TB.Helper()
	i := slices.IndexFunc(s.Databases, func(d *Database) bool { return d.Name == name })
	if i < 0 {
		s.TB.Fatalf("there is no database %s", name)
	}
	return s.Databases[i]
}

// Put puts a database into a state.
func (s *Simulated) Put(database string, to State) { s.Named(database).State = to }

// Connect is Server's.
func (s *Simulated) Connect(database string, on Sessions) { s.Named(database).Sessions = on }

// Execute is Server's.
func (s *Simulated) Execute(database, statement string, calls int, ms float64) float64 {
	d, of := s.Named(database), Text(statement)
	i := slices.IndexFunc(d.Statements, func(one *Statement) bool { return one.Text == of })
	if i < 0 {
		s.statement++
		h := fnv.New64a()
		_, _ = h.Write([]byte(of)) // never fails
		i, d.Statements = len(d.Statements), append(d.Statements, &Statement{ID: s.statement, Of: h.Sum64(), Text: of, Born: s.Now()})
	}
	one, total := d.Statements[i], float64(calls)*ms
	one.Calls, one.Ms, one.MaxMs = one.Calls+calls, one.Ms+total, max(one.MaxMs, ms)
	d.BusyMs += total
	return total
}

// Evict is Server's.
func (s *Simulated) Evict(database, statement string) {
	d := s.Named(database)
	d.Statements = slices.DeleteFunc(d.Statements, func(one *Statement) bool { return one.Text == Text(statement) })
}

// Reset is Server's.
func (s *Simulated) Reset() {
	s.ResetAt = s.Now()
	for _, d := range s.Databases {
		d.Statements = nil
	}
}

// Begin starts it again. That it was shows at its start alone: nothing falls.
func (s *Simulated) Begin() { s.Starts++ }

// Skew is Server's.
func (s *Simulated) Skew(ahead time.Duration) { s.Ahead = ahead }

// Take is Server's.
func (s *Simulated) Take(p Part) { s.Taken[p.Name] = true }

// Give is Server's.
func (s *Simulated) Give(p Part) { delete(s.Taken, p.Name) }
