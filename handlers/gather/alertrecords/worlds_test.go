package alertrecords_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/report"
	"muster/eventstore"
	"muster/handlers/gather/alertrecords"
	"muster/internal/notify"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/alertsum"
	"muster/internal/testing/pgtest"
	"muster/projections/alerts"
	"muster/projections/projectionstest"
)

// worlds is how many organizations are drawn.
const worlds = 50

// entry is an event with the time at which it was recorded.
type entry struct {
	stream   uuid.UUID
	kind     string
	recorded time.Time
	occurred time.Time
	actor    uuid.UUID
	fact     any
}

// sending is a delivery of an alert's raise.
type sending struct {
	alert, channel uuid.UUID
	status, reason string
	at             time.Time
}

// world is an organization with a window. Its log lies in years of its own, so that all worlds fit into one log.
type world struct {
	n         int
	id        uuid.UUID
	window    snapshot.Window
	whole     bool
	instances []uuid.UUID // of a scope that is not whole
	servers   []uuid.UUID
	log       []entry
	sent      []sending
}

var (
	people   = []uuid.UUID{{1: 1, 15: 1}, {1: 1, 15: 2}}
	channels = []uuid.UUID{{1: 2, 15: 1}, {1: 2, 15: 2}}
	ruleIDs  = []string{"lag", "disk", "down"}
)

// drawer draws one world.
type drawer struct {
	*rand.Rand
	*world
}

func (d drawer) newID() (id uuid.UUID) {
	for i := range id {
		id[i] = byte(d.IntN(256))
	}
	return id
}

func (d drawer) minutes(most int) time.Duration { return time.Duration(d.IntN(most)) * time.Minute }

func (d drawer) chance(percent int) bool { return d.IntN(100) < percent }

// draw makes a world of servers and alerts with all bad days.
func draw(n int) *world {
	w := &world{n: n}
	d := drawer{rand.New(rand.NewPCG(7, uint64(n))), w}
	w.id = d.newID()
	start := time.Date(2000+4*n, 3, 1+d.IntN(28), d.IntN(24), d.IntN(60), 0, 0, time.UTC)
	w.window = snapshot.Window{From: start, To: start.Add(time.Duration(1+d.IntN(31*24)) * time.Hour)}
	for range 4 {
		w.servers = append(w.servers, d.server())
	}
	if w.whole = n%3 > 0; !w.whole && n%9 > 0 { // every third has some servers, and every ninth none
		w.instances = slices.Clone(w.servers[:1+d.IntN(3)])
	}
	for range 6 + d.IntN(14) {
		d.alert()
	}
	slices.SortStableFunc(w.log, func(a, b entry) int { return a.recorded.Compare(b.recorded) })
	return w
}

// server joins before the window or in it, may be renamed, and may leave.
func (d drawer) server() uuid.UUID {
	id := d.newID()
	joined := d.window.From.AddDate(-1, 0, 0).Add(d.minutes(60))
	if d.chance(25) {
		joined = d.window.From.Add(d.minutes(23 * 60))
	}
	add := func(at time.Time, fact any) {
		d.log = append(d.log, entry{stream: id, kind: fleet.InstanceStream, recorded: at, occurred: at, fact: fact})
	}
	name := fmt.Sprintf("server-%d", d.IntN(3)) // names repeat
	add(joined, fleet.InstanceRegistered{Name: name, Engine: fleet.PostgreSQL, Active: true, CreatedAt: joined})
	if d.chance(30) {
		add(joined.Add(time.Hour+d.minutes(40*24*60)), fleet.InstanceChanged{Name: name + "-new", FormerName: name, Engine: fleet.PostgreSQL, CreatedAt: joined})
	}
	if d.chance(20) {
		add(joined.AddDate(1, 0, 20), fleet.InstanceRemoved{})
	}
	return id
}

// alert draws one alert: some from last year, some after the window, with wrong clocks, imported late, re-opened, muted.
func (d drawer) alert() {
	id, span := d.newID(), int(d.window.To.Sub(d.window.From)/time.Minute)
	at := d.window.From.Add(d.minutes(span+24*60) - 12*time.Hour)
	switch {
	case d.chance(10):
		at = d.window.From.AddDate(0, 0, -200) // since last year
	case d.chance(5):
		at = d.window.From
	}
	named := at
	if d.chance(10) {
		named = at.Add(90 * time.Minute) // by a clock that is ahead
	} else if d.chance(10) {
		named = at.Add(-d.minutes(5 * 24 * 60)) // recorded late
	}
	rule := ruleIDs[d.IntN(3)]
	details := alert.Details{Title: rule + " is high", Severity: alert.Severities()[d.IntN(3)], Rule: &alert.Rule{ID: rule, Name: "Rule " + rule},
		CreatedAt: named, FirstTriggeredAt: named, LastTriggeredAt: named}
	if !d.chance(10) {
		details.InstanceID = d.servers[d.IntN(4)]
		if d.chance(20) {
			details.OtherInstanceIDs = []uuid.UUID{d.servers[d.IntN(4)]}
		}
	}
	add := func(fact any, actor uuid.UUID) {
		d.log = append(d.log, entry{stream: id, kind: alert.StreamType, recorded: at, occurred: at, actor: actor, fact: fact})
	}
	raised := alert.Raised{Key: id.String(), Details: details}
	if d.chance(10) {
		raised.Maintenance = &alert.Window{ID: d.newID(), Until: at.Add(time.Hour)}
	}
	add(raised, uuid.Nil)
	d.notices(id, at)
	for range d.IntN(5) {
		at = at.Add(time.Minute + d.minutes(3*24*60))
		switch d.IntN(6) {
		case 0:
			details.Severity = alert.Severities()[d.IntN(3)]
			add(alert.Changed{Details: details}, uuid.Nil)
		case 1:
			add(alert.TriggeredAgain{FirstTriggeredAt: named, LastTriggeredAt: at, StartedAt: at}, uuid.Nil)
		case 2:
			add(alert.Muted{}, people[0])
		case 3:
			add(alert.MutedUntil{Until: at.Add(48 * time.Hour)}, people[1])
		case 4:
			add(alert.Unmuted{}, people[0])
		default:
			add(alert.StillFiring{LastTriggeredAt: at}, uuid.Nil)
		}
	}
	if d.chance(45) {
		at = at.Add(d.minutes(600))
		add(alert.Acknowledged{}, people[d.IntN(2)])
	}
	if d.chance(75) {
		at = at.Add(d.minutes(3 * 24 * 60))
		if at.Before(d.window.From) && d.chance(30) {
			at = d.window.From // to the microsecond
		}
		ended := at
		if d.chance(10) {
			ended = named.Add(-time.Hour) // before it was raised
		}
		if d.chance(60) {
			add(alert.AutoResolved{ResolvedAt: ended, LastTriggeredAt: at}, uuid.Nil)
		} else {
			add(alert.Resolved{ResolvedAt: ended, LastTriggeredAt: at}, people[0])
		}
		if d.chance(40) { // it holds again soon
			again := at.Add(d.minutes(90))
			details.CreatedAt, details.FirstTriggeredAt, details.LastTriggeredAt = again, again, again
			d.log = append(d.log, entry{stream: d.newID(), kind: alert.StreamType, recorded: again, occurred: again, fact: alert.Raised{Key: id.String(), After: at, Details: details}})
		}
	}
}

// notices draws what became of the notifications of a raise.
func (d drawer) notices(id uuid.UUID, at time.Time) {
	for range d.IntN(3) {
		s := sending{alert: id, channel: channels[d.IntN(2)], at: at.Add(d.minutes(20)), status: []string{"sent", "failed", "suppressed", "pending"}[d.IntN(4)]}
		if s.status == "suppressed" {
			s.reason = []string{"muted", "maintenance_window", "no_recipients"}[d.IntN(3)]
		}
		d.sent = append(d.sent, s)
	}
}

// told writes the worlds into a database, with everything or with what was recorded before their windows' ends.
func told(t *testing.T, all []*world, everything bool) alertrecords.Source {
	t.Helper()
	url := pgtest.URL(t)
	db := pgtest.Connect(t, url)
	pgtest.Unguard(t, db)
	registry := usecase.Registry()
	var positions []int64
	var times []time.Time
	place := map[string]entry{}
	var batches []eventstore.Append
	for _, w := range all {
		at := map[uuid.UUID]int{}
		for _, e := range w.log {
			if !everything && !e.recorded.Before(w.window.To) {
				continue
			}
			encoded, err := registry.Encode(e.fact)
			if err != nil {
				t.Fatal(err)
			}
			encoded.OccurredAt = e.occurred
			var meta eventstore.Metadata
			if e.actor != uuid.Nil {
				meta.ActorID = e.actor.String()
			}
			// Each event is a batch of its own, because it has an author of its own.
			batches = append(batches, eventstore.Append{Organization: w.id, StreamType: e.kind, Stream: e.stream, Expected: eventstore.AnyVersion,
				Events: []eventstore.NewEvent{encoded}, Metadata: meta})
			at[e.stream]++
			positions, times = append(positions, int64(len(positions)+1)), append(times, e.recorded)
			place[fmt.Sprint(e.stream, at[e.stream])] = e
		}
	}
	write(t, db, batches)
	db.MustExec(`UPDATE events e SET recorded_at = n.at FROM unnest($1::bigint[], $2::timestamptz[]) AS n (position, at) WHERE e.log = 'fleet' AND e.position = n.position`, positions, times)
	for _, w := range all {
		for _, s := range w.sent {
			id := uuid.New()
			db.MustExec(`INSERT INTO deliveries (id, organization_id, rule_id, channel_id, quiet, status, reason, created_at, due_at, closed_at, status_at)
				VALUES ($1, $2, $3, $4, false, $5, $6, $7, $7, $7, $7)`, id, w.id, uuid.New(), s.channel, s.status, s.reason, s.at)
			db.MustExec(`INSERT INTO delivery_events (delivery_id, event_id, organization_id, type, at, position, alert_id, notice)
				VALUES ($1, $2, $3, 'alert.raised', $4, 1, $5, '{}')`, id, uuid.New(), w.id, s.at, s.alert)
		}
	}
	projectionstest.Run(t, db, url, alerts.Projection(registry.Decode)).Follow(eventstore.Fleet, int64(len(batches)))
	return alertrecords.Source{DB: db, Events: eventstore.New(db), Decode: registry.Decode,
		Names: func(context.Context, uuid.UUID, []uuid.UUID) (map[uuid.UUID]string, error) {
			return map[uuid.UUID]string{people[0]: "Ana", people[1]: "Ben"}, nil
		}}
}

// write appends in runs without a stream twice.
func write(t *testing.T, db *sqlx.DB, batches []eventstore.Append) {
	t.Helper()
	store := eventstore.New(db)
	for len(batches) > 0 {
		seen, n := map[uuid.UUID]bool{}, 0
		for n < len(batches) && !seen[batches[n].Stream] {
			seen[batches[n].Stream] = true
			n++
		}
		if _, err := store.Append(t.Context(), eventstore.Fleet, batches[:n]...); err != nil {
			t.Fatal(err)
		}
		batches = batches[n:]
	}
}

func (w *world) scope() alertrecords.Scope {
	return alertrecords.Scope{Organization: w.id, Whole: w.whole, Instances: w.instances, Window: w.window}
}

func (w *world) document(t *testing.T, from alertrecords.Source) snapshot.Document {
	t.Helper()
	records, err := from.Gather(t.Context(), w.scope())
	if err != nil {
		t.Fatal(err)
	}
	return snapshot.Normalize(snapshot.Document{Schema: snapshot.SchemaVersion, Kind: string(report.AlertsSummary), Window: &w.window, AlertRecords: records})
}

// TestFiguresOfRandomWorldsMatchTheirLogs: an independent calculation reads the events of 50 worlds with SQL,
// and comes to the same figures. Events after a window's end change no byte of its report.
func TestFiguresOfRandomWorldsMatchTheirLogs(t *testing.T) {
	t.Parallel()
	var all []*world
	for n := range worlds {
		all = append(all, draw(n))
	}
	before := map[int]string{}
	t.Run("at the end of the windows", func(t *testing.T) { // in a database of its own
		then := told(t, all, false)
		for _, w := range all {
			before[w.n] = encoded(t, w.document(t, then))
		}
	})
	now, total := told(t, all, true), 0
	for _, w := range all {
		doc := w.document(t, now)
		want := calculate(t, now.DB, w)
		total += want.All.Raised
		if diff := cmp.Diff(want, printed(doc)); diff != "" {
			t.Errorf("world %d (-log +report):\n%s", w.n, diff)
		}
		if diff := cmp.Diff(before[w.n], encoded(t, doc)); diff != "" {
			t.Errorf("world %d: events after the window's end changed its report (-at the end +later):\n%s", w.n, diff)
		}
		holds(t, w.n, alertsum.BalanceOf(doc))
		w.forgets(t, now, doc)
	}
	if total < 200 {
		t.Errorf("the worlds have only %d alerts", total)
	}
}

// forgets gathers a document when deliveries are no longer kept: an alert without any is not one that no rule matched.
func (w *world) forgets(t *testing.T, from alertrecords.Source, doc snapshot.Document) {
	t.Helper()
	scope := w.scope()
	scope.Now = w.window.To.Add(notify.Kept)
	records, err := from.Gather(t.Context(), scope)
	if err != nil {
		t.Fatal(err)
	}
	told := map[uuid.UUID]string{}
	for _, a := range records.Listed {
		told[a.ID] = a.Told
	}
	for _, a := range doc.AlertRecords.Listed {
		want := a.Told
		if want == snapshot.AlertUnmatched {
			want = snapshot.AlertNotKept
		}
		if told[a.ID] != want {
			t.Errorf("world %d: 90 days later, an alert that was told as %q is %q", w.n, a.Told, told[a.ID])
		}
	}
}

// encoded are the bytes of a document.
func encoded(t *testing.T, doc snapshot.Document) string {
	t.Helper()
	text, err := snapshot.Encode(doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// holds is true of every row: open at start + raised − resolved = open at end.
func holds(t *testing.T, n int, b alertsum.Balance) {
	t.Helper()
	for _, rows := range [][]alertsum.Row{{{Name: "all", AlertSum: b.All}}, b.Severities, b.Servers, b.Rules} {
		for _, r := range rows {
			if r.Start+r.Raised-r.Resolved != r.End {
				t.Errorf("world %d, %s: %d + %d - %d is not %d", n, r.Name, r.Start, r.Raised, r.Resolved, r.End)
			}
		}
	}
}
