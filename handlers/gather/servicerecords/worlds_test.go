package servicerecords_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/maintenance"
	"muster/domain/objective"
	"muster/domain/team"
	"muster/eventstore"
	"muster/handlers/gather/servicerecords"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore"
	"muster/internal/measurements/room"
	"muster/internal/report/snapshot"
	"muster/internal/testing/pgtest"
	"muster/internal/watch/uptime"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// fact is an event of a stream at a time.
type fact struct {
	at     time.Time
	kind   string // of the stream
	stream uuid.UUID
	event  any
}

// version is a list of objectives, or the terms of a window, with the time in which they hold.
type version struct {
	from  time.Time
	until *time.Time
	list  []objective.Objective
	terms maintenance.Terms
}

// execution is what a statement did in an hour.
type execution struct {
	hour  time.Time
	key   string
	calls int64
	ms    float64
}

// drawnServer is a server as it was drawn, minute by minute.
type drawnServer struct {
	id, database uuid.UUID
	created      time.Time
	spans        []uptime.Span
	executed     []execution
	sizes        []measured
}

type measured struct {
	at   time.Time
	used float64
}

// world is an organization with everything that was drawn for it.
type world struct {
	organization uuid.UUID
	window       snapshot.Window
	whole        bool
	servers      []*drawnServer
	facts        []fact
	objectives   []version
	windows      []version
}

// draw draws a world whose times are whole minutes. Much happens after the end of its window, and must not matter.
func draw(r *rand.Rand, base time.Time) *world {
	w := &world{organization: uuid.New(), whole: r.Intn(3) > 0}
	w.window.From = base.Add(time.Duration(r.Intn(24*60)) * time.Minute)
	w.window.To = w.window.From.Add(time.Duration(20*60+r.Intn(40*60)) * time.Minute)
	for range 1 + r.Intn(4) {
		w.drawServer(r)
	}
	w.drawTerms(r)
	w.drawAlerts(r)
	slices.SortStableFunc(w.facts, func(a, b fact) int { return a.at.Compare(b.at) })
	return w
}

// minute is a whole minute from some time before the window until some time after it.
func (w *world) minute(r *rand.Rand) time.Time {
	return w.window.From.Add(time.Duration(r.Intn(int(w.window.To.Sub(w.window.From)/time.Minute)+16*60)-8*60) * time.Minute)
}

func (w *world) says(at time.Time, stream uuid.UUID, event fleet.Event) {
	w.facts = append(w.facts, fact{at, fleet.InstanceStream, stream, event})
}

func (w *world) drawServer(r *rand.Rand) {
	s := &drawnServer{id: uuid.New(), database: uuid.New(), created: w.window.From.Add(-48 * time.Hour)}
	name := fmt.Sprintf("server-%d", len(w.servers))
	if r.Intn(3) == 0 {
		s.created = w.minute(r)
	}
	w.says(s.created, s.id, fleet.InstanceRegistered{Name: name, Engine: fleet.PostgreSQL, Active: true, CreatedAt: s.created})
	later := func() time.Time { return s.created.Add(time.Duration(1+r.Intn(60*60)) * time.Minute) }
	for range r.Intn(3) {
		w.says(later(), s.id, fleet.InstanceTagged{Set: map[string]string{"env": []string{"prod", "test"}[r.Intn(2)]}})
	}
	if r.Intn(2) == 0 {
		w.says(later(), s.id, fleet.InstanceChanged{Name: name + "-renamed", Engine: fleet.PostgreSQL, CreatedAt: s.created})
	}
	if r.Intn(3) == 0 {
		off := later()
		w.says(off, s.id, fleet.InstanceDeactivated{})
		w.says(off.Add(time.Duration(1+r.Intn(900))*time.Minute), s.id, fleet.InstanceActivated{})
	}
	if r.Intn(4) == 0 {
		w.says(s.created.Add(80*time.Hour), s.id, fleet.InstanceRemoved{})
	}
	if r.Intn(6) > 0 { // else it was never heard
		for at := w.window.From.Add(-5 * time.Hour); at.Before(w.window.To.Add(5 * time.Hour)); {
			until := at.Add(time.Duration(1+r.Intn(500)) * time.Minute)
			if state := r.Intn(4); state > 0 {
				s.spans = append(s.spans, uptime.Span{Since: at, Until: until, Up: state > 1})
			}
			at = until
		}
	}
	for hour := w.window.From.Truncate(time.Hour).Add(-2 * time.Hour); hour.Before(w.window.To.Add(3 * time.Hour)); hour = hour.Add(time.Hour) {
		for range r.Intn(3) {
			s.executed = append(s.executed, execution{hour, fmt.Sprintf("q%d", r.Intn(9)), int64(1 + r.Intn(50)), float64(r.Intn(4000)) / 4})
		}
	}
	for at, used := w.window.From.Add(-30*time.Hour), 1e9; at.Before(w.window.To.Add(20 * time.Hour)); at = at.Add(4 * time.Hour) {
		used += float64(r.Intn(1e6))
		if s.sizes = append(s.sizes, measured{at, used}); r.Intn(5) == 0 {
			s.sizes = s.sizes[:len(s.sizes)-1]
		}
	}
	w.servers = append(w.servers, s)
}

func (w *world) drawSelector(r *rand.Rand) team.Selector {
	if r.Intn(2) == 0 {
		return team.Selector{Tags: fleet.TagFilter{"env": {"prod"}}}
	}
	return team.Selector{InstanceIDs: []uuid.UUID{w.servers[r.Intn(len(w.servers))].id}}
}

func (w *world) drawTerms(r *rand.Rand) {
	figure := func(v float64) *float64 { return &v }
	var changes []time.Time
	for range r.Intn(4) {
		changes = append(changes, w.minute(r))
	}
	slices.SortFunc(changes, time.Time.Compare)
	changes = slices.CompactFunc(changes, time.Time.Equal)
	for i, at := range changes {
		list := []objective.Objective{
			{Selector: w.drawSelector(r), AvailabilityPercent: figure(50 + float64(r.Intn(49000))/1000), LatencyMs: figure(float64(1 + r.Intn(40))), Window: objective.Month},
			{AvailabilityPercent: figure(50 + float64(r.Intn(49000))/1000), Window: objective.Month},
		}[:1+r.Intn(2)]
		v := version{from: at, list: list}
		if i+1 < len(changes) {
			v.until = &changes[i+1]
		}
		w.objectives = append(w.objectives, v)
	}
	for range r.Intn(4) {
		from := w.minute(r)
		to := from.Add(time.Duration(1+r.Intn(400)) * time.Minute)
		v := version{from: w.minute(r).Add(-4 * time.Hour), terms: maintenance.Terms{Selector: w.drawSelector(r), From: &from, To: &to}}
		if r.Intn(3) == 0 {
			until := v.from.Add(time.Duration(1+r.Intn(2000)) * time.Minute)
			v.until = &until
		}
		w.windows = append(w.windows, v)
	}
}

// drawAlerts raises alerts about some outages, some of which are about another server, too.
func (w *world) drawAlerts(r *rand.Rand) {
	for _, s := range w.servers {
		for _, span := range s.spans {
			if span.Up || r.Intn(3) == 0 {
				continue
			}
			id, at := uuid.New(), span.Since.Add(time.Duration(r.Intn(600))*time.Minute)
			rule := "down"
			if r.Intn(4) == 0 {
				rule = "silent"
			}
			raised := alert.Raised{Details: alert.Details{Title: "down", Severity: alert.Critical, Rule: &alert.Rule{ID: rule, Name: rule}, InstanceID: s.id, CreatedAt: at}}
			if other := w.servers[r.Intn(len(w.servers))]; other != s {
				raised.OtherInstanceIDs = []uuid.UUID{other.id}
			}
			w.facts = append(w.facts, fact{at, alert.StreamType, id, raised})
			if r.Intn(2) == 0 {
				w.facts = append(w.facts, fact{at.Add(time.Duration(1+r.Intn(300)) * time.Minute), alert.StreamType, id, alert.Acknowledged{}})
			}
		}
	}
}

// scene is where drawn worlds are kept.
type scene struct {
	t      *testing.T
	db     *sqlx.DB
	events *eventstore.Store
	store  *pgstore.Store
	source servicerecords.Source
	now    time.Time
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{t: t, db: pgtest.DB(t), now: time.Now().UTC().Truncate(time.Minute)}
	pgtest.Unguard(t, s.db)
	s.events, s.store = eventstore.New(s.db), pgstore.New(s.db, slog.New(slog.DiscardHandler))
	s.store.KeepsTexts = func(context.Context, *sqlx.Tx, uuid.UUID) (bool, error) { return true, nil }
	s.source = servicerecords.Source{DB: s.db, Events: s.events, Decode: usecase.Registry().Decode, Measurements: s.store}
	return s
}

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// keep keeps worlds as the program would have. The log is in the order of its times.
func (s *scene) keep(worlds ...*world) {
	s.t.Helper()
	s.keepFacts(worlds)
	for _, w := range worlds {
		s.keepTerms(w)
		var batch measurements.Batch
		batch.Organization = w.organization
		for _, one := range w.servers {
			s.must(uptime.Backfill(s.t.Context(), s.db, w.organization, one.id, one.spans))
			byHour := map[time.Time][]measurements.Statement{}
			for i, e := range one.executed {
				at := e.hour.Add(time.Duration(1+i%50) * time.Minute)
				byHour[at] = append(byHour[at], measurements.Statement{Key: e.key, Calls: e.calls, TotalMs: e.ms, Text: "SELECT " + e.key})
			}
			for at, statements := range byHour {
				batch.Statements = append(batch.Statements, measurements.StatementSample{Instance: one.id, Engine: fleet.PostgreSQL, Database: one.database, At: at, Interval: time.Minute, Statements: statements})
			}
			for _, size := range one.sizes {
				s.must(room.RecordSizes(s.t.Context(), s.db, w.organization, room.InstanceSubject(one.id), size.at, []room.Size{{Kind: room.Database, Name: "sales", Used: size.used, Limit: 4e9}}))
			}
		}
		if len(batch.Statements) > 0 {
			_, err := s.store.Write(s.t.Context(), batch)
			s.must(err)
		}
	}
	for rolled := 1; rolled > 0; {
		var err error
		rolled, err = s.store.Roll(s.t.Context())
		s.must(err)
	}
}

func (s *scene) keepFacts(worlds []*world) {
	s.t.Helper()
	type of struct {
		*world
		fact
	}
	var all []of
	for _, w := range worlds {
		for _, f := range w.facts {
			all = append(all, of{w, f})
		}
	}
	slices.SortStableFunc(all, func(a, b of) int { return a.at.Compare(b.at) })
	var batches []eventstore.Append
	var times []time.Time
	for _, f := range all {
		e, err := usecase.Registry().Encode(f.event)
		s.must(err)
		batches = append(batches, eventstore.Append{Organization: f.organization, StreamType: f.kind, Stream: f.stream, Expected: eventstore.AnyVersion, Events: []eventstore.NewEvent{e}})
		times = append(times, f.at)
	}
	last, err := s.events.Append(s.t.Context(), eventstore.Fleet, batches...)
	s.must(err)
	s.db.MustExec(`UPDATE events e SET recorded_at = t.at FROM unnest($1::timestamptz[]) WITH ORDINALITY AS t (at, n) WHERE log = 'fleet' AND position = $2 + t.n`, times, last-int64(len(times)))
}

func (s *scene) keepTerms(w *world) {
	s.t.Helper()
	for _, v := range w.objectives {
		text, err := json.Marshal(v.list)
		s.must(err)
		s.db.MustExec(`INSERT INTO objectives (organization_id, items, holds_from, holds_until) VALUES ($1, $2, $3, $4)`, w.organization, string(text), v.from, v.until)
	}
	for _, v := range w.windows {
		text, err := json.Marshal(v.terms)
		s.must(err)
		s.db.MustExec(`INSERT INTO maintenance_windows (id, organization_id, name, terms, created_at, holds_from, holds_until) VALUES (gen_random_uuid(), $1, 'work', $2, $3, $3, $4)`,
			w.organization, string(text), v.from, v.until)
	}
}

func (s *scene) gather(w *world) *snapshot.ServiceRecords {
	s.t.Helper()
	in := servicerecords.Scope{Organization: w.organization, Whole: w.whole, Window: w.window, Texts: true, Now: s.now}
	if !w.whole {
		for _, one := range w.servers[:(len(w.servers)+1)/2] {
			in.Instances = append(in.Instances, one.id)
		}
	}
	got, err := s.source.Gather(s.t.Context(), in)
	s.must(err)
	return snapshot.Normalize(snapshot.Document{ServiceRecords: got}).ServiceRecords
}

// byName orders servers as a document does.
func byName(a, b snapshot.ServiceServer) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID.String(), b.ID.String()))
}
