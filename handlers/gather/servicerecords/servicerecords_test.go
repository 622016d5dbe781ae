package servicerecords_test

import (
	"bytes"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/objective"
	"muster/handlers/gather/servicerecords"
	"muster/internal/report/snapshot"
	"muster/internal/watch/uptime"
)

// TestFiguresOfRandomWorldsMatchTheirLogs: they are compared with a calculation minute by minute, from the log
// and the samples.
func TestFiguresOfRandomWorldsMatchTheirLogs(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var worlds []*world
	for seed := range int64(50) {
		worlds = append(worlds, draw(rand.New(rand.NewSource(seed)), s.now.Truncate(time.Hour).Add(-9*24*time.Hour)))
	}
	s.keep(worlds...)
	for i, w := range worlds {
		want, got := reference(w), s.gather(w)
		// Of rooms that are full at no known time, the one that grew most comes first.
		slices.SortFunc(want.Rooms, func(a, b snapshot.ServiceRoom) int {
			if a.LastUsed-a.FirstUsed > b.LastUsed-b.FirstUsed {
				return -1
			}
			return 1
		})
		if diff := cmp.Diff(want, got, cmp.Comparer(near), cmp.Comparer(time.Time.Equal)); diff != "" {
			t.Fatalf("world %d from %s to %s (want -, got +):\n%s", i, w.window.From, w.window.To, diff)
		}
	}
}

// TestLaterEventsDoNotChangeAWindow: a window is gathered at its end and a month later, and the bytes are the
// same.
func TestLaterEventsDoNotChangeAWindow(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := draw(rand.New(rand.NewSource(25)), s.now.Truncate(time.Hour).Add(-9*24*time.Hour))
	s.keep(w)
	inputs := func() []byte {
		t.Helper()
		text, err := snapshot.Encode(snapshot.Document{ServiceRecords: s.gather(w)})
		s.must(err)
		return text
	}
	before := inputs()
	later := &world{organization: w.organization, window: w.window}
	at := s.now.Add(-24 * time.Hour)
	for _, one := range w.servers {
		later.says(at, one.id, fleet.InstanceTagged{Set: map[string]string{"env": "prod"}})
		later.says(at, one.id, fleet.InstanceChanged{Name: "another", Engine: fleet.PostgreSQL, CreatedAt: one.created})
		later.says(at, one.id, fleet.InstanceRemoved{})
		later.servers = append(later.servers, &drawnServer{id: one.id, database: one.database,
			spans: []uptime.Span{{Since: at, Until: s.now}}, executed: []execution{{at.Truncate(time.Hour), "q1", 1000, 1e6}}, sizes: []measured{{at, 3.9e9}}})
	}
	for _, f := range w.facts {
		if f.kind == alert.StreamType {
			later.facts = append(later.facts, fact{at, f.kind, f.stream, alert.Acknowledged{}})
		}
	}
	s.db.MustExec(`UPDATE objectives SET holds_until = $2 WHERE organization_id = $1 AND holds_until IS NULL`, w.organization, at)
	s.db.MustExec(`UPDATE maintenance_windows SET holds_until = $2 WHERE organization_id = $1 AND holds_until IS NULL`, w.organization, at)
	percent := 51.0
	later.objectives = []version{{from: at, list: []objective.Objective{{AvailabilityPercent: &percent, Window: objective.Month}}}}
	s.keep(later)
	s.now = s.now.AddDate(0, 0, 25)
	if after := inputs(); !bytes.Equal(before, after) {
		t.Errorf("a month later the inputs are\n%s\nbefore, they were\n%s", after, before)
	}
}

// plain is a world of one server that was up from a time on, and executed a statement each hour.
func plain(window snapshot.Window, created time.Time) *world {
	w := &world{organization: uuid.New(), window: window, whole: true}
	one := &drawnServer{id: uuid.New(), database: uuid.New(), created: created, spans: []uptime.Span{{Since: created, Until: window.To.Add(time.Hour), Up: true}}}
	w.servers = []*drawnServer{one}
	w.says(created, one.id, fleet.InstanceRegistered{Name: "orders", Engine: fleet.PostgreSQL, Active: true, CreatedAt: created})
	return w
}

// TestADayOf23AndOf25Hours has as many hours as it had.
func TestADayOf23AndOf25Hours(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	amsterdam, err := time.LoadLocation("Europe/Amsterdam")
	s.must(err)
	var worlds []*world
	for _, day := range []time.Time{time.Date(2026, 3, 29, 0, 0, 0, 0, amsterdam), time.Date(2026, 10, 25, 0, 0, 0, 0, amsterdam)} {
		worlds = append(worlds, plain(snapshot.Window{From: day.UTC(), To: day.AddDate(0, 0, 1).UTC()}, day.AddDate(0, 0, -2).UTC()))
	}
	s.keep(worlds...)
	for i, hours := range []time.Duration{23, 25} {
		if got := s.gather(worlds[i]).Servers[0]; got.Up != hours*time.Hour || got.Unknown != 0 {
			t.Errorf("a day of %d hours was up for %s and unknown for %s", hours, got.Up, got.Unknown)
		}
	}
}

// TestStatementsBeyondTheirRetention: there are statements by the hour for 35 days, then by the UTC day, and
// then none, and the records say so.
func TestStatementsBeyondTheirRetention(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for _, c := range []struct {
		ago     int // days
		sooner  time.Duration
		missing string
	}{{500, 3 * time.Hour, snapshot.ServiceNotKept}, {40, 3 * time.Hour, snapshot.ServiceNotMeasured}, {4, 0, ""}} {
		from := s.now.Truncate(24*time.Hour).AddDate(0, 0, -c.ago).Add(3 * time.Hour)
		w := plain(snapshot.Window{From: from, To: from.Add(30 * time.Hour)}, from.Add(-24*time.Hour))
		if c.missing == "" {
			w.servers[0].executed = append(w.servers[0].executed, execution{from.Add(5 * time.Hour), "q", 1, 10})
		}
		s.keep(w)
		got := s.gather(w).Statements
		if !got.From.Equal(from.Add(-c.sooner)) || got.Missing != c.missing || (len(got.Listed) > 0) != (c.missing == "") {
			t.Errorf("%d days ago, the statements are from %s, %q missing, %d listed", c.ago, got.From, got.Missing, len(got.Listed))
		}
	}
}

// TestForeignServersAndTeamsWithoutServers: a foreign server is not there, like an unknown one, and a team may
// have no server.
func TestForeignServersAndTeamsWithoutServers(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	from := s.now.Add(-48 * time.Hour)
	ours, theirs := plain(snapshot.Window{From: from, To: s.now.Add(-time.Hour)}, from.Add(-time.Hour)), plain(snapshot.Window{From: from, To: s.now.Add(-time.Hour)}, from)
	s.keep(ours, theirs)
	for name, ids := range map[string][]uuid.UUID{"foreign": {theirs.servers[0].id}, "unknown": {uuid.New()}, "no server": nil} {
		got, err := s.source.Gather(t.Context(), servicerecords.Scope{Organization: ours.organization, Instances: ids, Window: ours.window, Now: s.now})
		s.must(err)
		if len(got.Servers)+len(got.Statements.Listed)+len(got.Rooms) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
