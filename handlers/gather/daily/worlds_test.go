package daily_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/exception"
	"muster/domain/fleet"
	"muster/domain/organization"
	"muster/eventstore"
	"muster/handlers/gather/daily"
	"muster/internal/accounts"
	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/feed/kept"
	"muster/internal/measurements"
	"muster/internal/measurements/backups"
	"muster/internal/measurements/pgstore"
	"muster/internal/measurements/room"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/day"
	"muster/internal/testing/pgtest"
	"muster/internal/watch/uptime"
	"muster/projections/alerts"
	"muster/projections/exceptions"
	"muster/projections/history"
	"muster/projections/projectionstest"
	"muster/projections/schedules"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// stage is a database in which worlds are drawn, each an organization of its own.
type stage struct {
	t      *testing.T
	db     *sqlx.DB
	events *eventstore.Store
	run    *projectionstest.Stage
	reader *daily.Reader
	store  *pgstore.Store
}

func newStage(t *testing.T) *stage {
	t.Helper()
	url := pgtest.URL(t)
	db := pgtest.Connect(t, url)
	pgtest.Unguard(t, db)
	decode := usecase.Registry().Decode
	checks, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	samples := pgstore.New(db, slog.New(slog.DiscardHandler))
	s := &stage{t: t, db: db, events: eventstore.New(db), store: samples}
	s.run = projectionstest.Run(t, db, url, alerts.Projection(decode), exceptions.Projection(decode), history.Projection(decode), schedules.Projection(decode))
	s.reader = &daily.Reader{
		DB: db, Events: s.events, Decode: decode, Accounts: accounts.New(db, time.Now),
		Exceptions: exceptions.NewReader(db), History: history.NewReader(db), Schedules: schedules.NewReader(db), Catalogue: checks,
		Feed: kept.NewStore(db), Statements: &measurements.Tiles{Store: samples}, Names: samples,
	}
	return s
}

// world is what was drawn, in the words of the log and the samples. Times are whole minutes.
type world struct {
	*stage
	rnd          *rand.Rand
	organization uuid.UUID
	from, to     time.Time
	whole        bool
	servers      []daily.Server
	alerts       []drawnAlert
	spans        map[uuid.UUID][]uptime.Span
	findings     []drawnFinding
	exceptions   []drawnException
	backups      []drawnBackup
	growths      []drawnGrowth
	messages     []drawnMessage
	executed     []drawnExecution
	tokens       []drawnToken
	dead         []time.Time // jobs that were given up
	batches      []eventstore.Append
}

// drawnAlert has the events of an alert in order of time; times beyond the day are its future.
type drawnAlert struct {
	id, server uuid.UUID
	severity   alert.Severity
	rule       string
	created    time.Time
	maint      bool
	moments    []moment
}

type moment struct {
	at    time.Time // of Resolved: what its sender says
	what  string    // seen, mute, until, unmute, again, resolved, over, lapsed
	until time.Time
}

type drawnFinding struct {
	server                  uuid.UUID
	check, object           string
	rank                    int
	first                   time.Time
	gone                    *time.Time
	earlierFirst, earlierGo *time.Time
}

type drawnException struct {
	check            string
	server           *uuid.UUID
	granted, revoked *time.Time
	until            time.Time
}

type drawnBackup struct {
	server uuid.UUID
	ends   []time.Time
}

// drawnGrowth grows by the same amount every day, and is full so many days after the end; 0: never.
type drawnGrowth struct {
	server uuid.UUID
	days   float64
}

type drawnMessage struct {
	created, ended time.Time
	status         string
	alert          uuid.UUID
	dropped        bool
}

// drawnExecution is what a statement did in an hour.
type drawnExecution struct {
	server uuid.UUID
	hour   time.Time
	key    string
	calls  int64
	ms     float64
}

type drawnToken struct {
	created, expires time.Time
	revoked          *time.Time
}

var dueDays = organization.DueDays{Critical: 7, High: 30, Medium: 90, Low: 180}

// drawWorld draws a world and puts it into the database. n is the seed.
func (s *stage) drawWorld(n uint64) *world {
	w := &world{stage: s, rnd: rand.New(rand.NewPCG(n, 7)), organization: uuid.New(), spans: map[uuid.UUID][]uptime.Span{}, whole: n%3 != 0}
	w.to = time.Now().UTC().Truncate(time.Minute).Add(-30 * time.Minute)
	w.from = w.to.Add(-time.Duration(23+n%3) * time.Hour)
	for i := range w.rnd.IntN(5) {
		created := w.from.AddDate(0, 0, -100)
		if w.chance(0.2) {
			created = w.within()
		}
		w.servers = append(w.servers, daily.Server{ID: uuid.New(), Name: fmt.Sprintf("pg-%02d", i), Version: "17.2", Engine: fleet.PostgreSQL, CreatedAt: created})
	}
	for range w.rnd.IntN(14) {
		w.drawAlert()
	}
	for _, server := range w.servers {
		w.drawSpans(server)
		for range w.rnd.IntN(5) {
			w.drawFinding(server.ID)
		}
		w.drawBackups(server.ID)
		w.drawGrowth(server.ID)
		w.drawStatements(server.ID)
	}
	for range w.rnd.IntN(3) {
		w.drawException()
	}
	for range w.rnd.IntN(8) {
		w.drawMessage()
	}
	w.drawOrganization()
	w.keep()
	return w
}

func (w *world) chance(p float64) bool { return w.rnd.Float64() < p }

// within is a minute of the day; around is one from two days before its end until a day after.
func (w *world) within() time.Time {
	return w.from.Add(time.Duration(w.rnd.IntN(int(w.to.Sub(w.from)/time.Minute))) * time.Minute)
}

func (w *world) around() time.Time {
	return w.to.Add(time.Duration(w.rnd.IntN(72*60)-48*60) * time.Minute)
}

func (w *world) pick() uuid.UUID {
	if len(w.servers) == 0 || w.chance(0.15) {
		return uuid.Nil
	}
	return w.servers[w.rnd.IntN(len(w.servers))].ID
}

func (w *world) drawAlert() {
	a := drawnAlert{
		id: uuid.New(), server: w.pick(), created: w.around(), severity: alert.Severities()[w.rnd.IntN(3)],
		rule: []string{"connections", "failed_jobs", "certificate", "other"}[w.rnd.IntN(4)], maint: w.chance(0.15),
	}
	if w.chance(0.1) {
		a.created = w.from.AddDate(-1, 0, 0) // open since last year
	}
	at := a.created
	muted := false
	for range w.rnd.IntN(6) {
		at = at.Add(time.Duration(1+w.rnd.IntN(600)) * time.Minute)
		m := moment{at: at, what: []string{"seen", "mute", "until", "again"}[w.rnd.IntN(4)], until: at.Add(time.Duration(1+w.rnd.IntN(900)) * time.Minute)}
		if muted && (m.what == "mute" || m.what == "until") {
			m.what = "unmute"
		}
		muted = m.what == "mute" || m.what == "until" || muted && m.what != "unmute"
		a.moments = append(a.moments, m)
	}
	if w.chance(0.6) {
		at = at.Add(time.Duration(1+w.rnd.IntN(900)) * time.Minute)
		if w.chance(0.1) {
			at = a.created.Add(-30 * time.Hour) // a wrong clock: it was over before it was raised
		}
		a.moments = append(a.moments, moment{at: at, what: []string{"resolved", "over", "lapsed"}[w.rnd.IntN(3)]})
	}
	w.alerts = append(w.alerts, a)
}

func (w *world) drawSpans(server daily.Server) {
	if w.chance(0.1) {
		return // it was never heard
	}
	at := server.CreatedAt.Truncate(time.Minute)
	if at.Before(w.from.Add(-time.Hour)) {
		at = w.from.Add(-time.Duration(w.rnd.IntN(60)) * time.Minute)
	}
	for at.Before(w.to.Add(3 * time.Hour)) {
		until := at.Add(time.Duration(1+w.rnd.IntN(700)) * time.Minute)
		w.spans[server.ID] = append(w.spans[server.ID], uptime.Span{Since: at, Until: until, Up: w.chance(0.8)})
		at = until
		if w.chance(0.5) {
			at = at.Add(time.Duration(1+w.rnd.IntN(120)) * time.Minute)
		}
	}
}

func (w *world) drawFinding(server uuid.UUID) {
	f := drawnFinding{server: server, check: []string{"PG-S01", "PG-S12"}[w.rnd.IntN(2)], object: uuid.NewString(), rank: w.rnd.IntN(4)}
	within := []int{dueDays.Critical, dueDays.High, dueDays.Medium, dueDays.Low}[f.rank]
	f.first = w.around().AddDate(0, 0, -within) // so that it falls due around the day
	if w.chance(0.3) {
		f.first = w.around()
	}
	if w.chance(0.4) {
		gone := f.first.Add(time.Duration(1+w.rnd.IntN(20*24*60)) * time.Minute)
		f.gone = &gone
	}
	if w.chance(0.2) {
		first, gone := f.first.AddDate(0, 0, -60), f.first.Add(-time.Hour)
		f.earlierFirst, f.earlierGo = &first, &gone
	}
	w.findings = append(w.findings, f)
}

func (w *world) drawException() {
	x := drawnException{check: "PG-S01", until: w.to.Add(time.Duration(w.rnd.IntN(30*24)-48) * time.Hour)}
	if len(w.servers) > 0 && w.chance(0.5) {
		x.server = &w.servers[w.rnd.IntN(len(w.servers))].ID
	}
	if w.chance(0.8) {
		granted := w.around()
		x.granted = &granted
		if w.chance(0.4) {
			revoked := granted.Add(time.Duration(1+w.rnd.IntN(2000)) * time.Minute)
			x.revoked = &revoked
		}
	}
	w.exceptions = append(w.exceptions, x)
}

func (w *world) drawBackups(server uuid.UUID) {
	if w.chance(0.3) {
		return // nobody tells
	}
	b := drawnBackup{server: server}
	for at := w.to.Add(-time.Duration(w.rnd.IntN(60)) * time.Hour); ; at = at.Add(time.Duration(6+w.rnd.IntN(10)) * time.Hour) {
		if b.ends = append(b.ends, at); !at.Before(w.to) || w.chance(0.4) {
			break
		}
	}
	w.backups = append(w.backups, b)
}

func (w *world) drawGrowth(server uuid.UUID) {
	if w.chance(0.5) {
		return
	}
	w.growths = append(w.growths, drawnGrowth{server, []float64{0, 3, 10, 40}[w.rnd.IntN(4)]})
}

func (w *world) drawMessage() {
	m := drawnMessage{created: w.around(), status: []string{"sent", "sent", "failed", "pending", "suppressed"}[w.rnd.IntN(5)]}
	m.ended = m.created.Add(time.Duration(w.rnd.IntN(600)) * time.Minute)
	if len(w.alerts) > 0 {
		a := w.alerts[w.rnd.IntN(len(w.alerts))]
		m.alert, m.dropped = a.id, w.chance(0.2)
	}
	w.messages = append(w.messages, m)
}

// hours are the whole hours of the day.
func (w *world) hours() (from, to time.Time) {
	return w.from.Truncate(time.Hour), w.to.Truncate(time.Hour)
}

// drawStatements draws what statements did from an hour before the day before until the end of the day.
func (w *world) drawStatements(server uuid.UUID) {
	if w.chance(0.4) {
		return
	}
	from, to := w.hours()
	for hour := from.Add(from.Sub(to)).Add(-time.Hour); hour.Before(to); hour = hour.Add(time.Hour) {
		for range w.rnd.IntN(3) {
			key := fmt.Sprintf("q%d", w.rnd.IntN(6))
			if w.chance(0.02) {
				key = fmt.Sprintf("rare%d", w.rnd.IntN(5))
			}
			if w.chance(0.1) {
				key = "own"
			}
			w.executed = append(w.executed, drawnExecution{server, hour, key, int64(1 + w.rnd.IntN(9)), float64(w.rnd.IntN(4000)) / 4})
		}
	}
}

// drawOrganization draws what no server has.
func (w *world) drawOrganization() {
	for range w.rnd.IntN(4) {
		x := drawnToken{created: w.around().AddDate(0, 0, -2), expires: w.to.Add(time.Duration(w.rnd.IntN(20*24)-48) * time.Hour)}
		if w.chance(0.4) {
			revoked := later(x.created, w.around())
			x.revoked = &revoked
		}
		w.tokens = append(w.tokens, x)
	}
	for range w.rnd.IntN(4) {
		w.dead = append(w.dead, w.around())
	}
}

// ask is the question that the digest of this world answers.
func (w *world) ask() daily.Ask {
	return daily.Ask{Organization: w.organization, DueDays: dueDays, Servers: w.servers, Whole: w.whole, Window: snapshot.Window{From: w.from, To: w.to}, Zone: time.UTC, Texts: true}
}

// counts says whether an alert belongs to the digest.
func (w *world) counts(a drawnAlert) bool {
	return w.whole || slices.ContainsFunc(w.servers, func(s daily.Server) bool { return s.ID == a.server })
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// says appends a fact with the time at which it happened.
func (w *world) says(streamType string, stream uuid.UUID, by string, at time.Time, fact any) {
	e, err := usecase.Registry().Encode(fact)
	w.must(err)
	e.OccurredAt = at
	w.batches = append(w.batches, eventstore.Append{
		Organization: w.organization, StreamType: streamType, Stream: stream, Expected: eventstore.AnyVersion,
		Events: []eventstore.NewEvent{e}, Metadata: eventstore.Metadata{ActorID: by},
	})
}

// records sets when the events of this world were recorded.
func (w *world) records(at string) {
	w.db.MustExec(`UPDATE events SET recorded_at = `+at+` WHERE organization_id = $1`, w.organization)
}

const machine = "system:ingest"

// keep puts the world into the log and the tables.
func (w *world) keep() {
	ctx := w.t.Context()
	for _, a := range w.alerts {
		w.keepAlert(a)
	}
	if len(w.batches) > 0 {
		w.run.Append(eventstore.Fleet, w.batches...)
	}
	w.batches = nil
	for _, x := range w.exceptions {
		id, asked := uuid.New(), w.from.AddDate(0, 0, -9)
		w.says(exception.StreamType, id, uuid.NewString(), asked, exception.Requested{Subject: exception.Subject{CheckID: x.check, InstanceID: x.server}, Reason: "why", Until: x.until})
		if x.granted != nil {
			w.says(exception.StreamType, id, uuid.NewString(), *x.granted, exception.Granted{})
		}
		if x.revoked != nil {
			w.says(exception.StreamType, id, uuid.NewString(), *x.revoked, exception.Revoked{})
		}
	}
	if len(w.batches) > 0 {
		w.run.Append(eventstore.Organization, w.batches...)
	}
	w.records("occurred_at")
	w.run.Settle()
	for id, spans := range w.spans {
		w.must(uptime.Backfill(ctx, w.db, w.organization, id, spans))
	}
	for _, f := range w.findings {
		w.db.MustExec(`INSERT INTO findings VALUES ($1, $2, $3, $4, '', $5, true, $6, '', '', '', '', '', '', '', $7, $7, $8, DEFAULT, $9, $10)`,
			uuid.New(), w.organization, f.server, f.check, f.object, f.rank, f.first, f.gone, f.earlierFirst, f.earlierGo)
	}
	for _, b := range w.backups {
		look := backups.Look{Instance: b.server, At: time.Now(), Source: backups.Feed, Condition: backups.Works}
		for _, end := range b.ends { // as they became known, one after the other
			look.Backups = []backups.Backup{{Kind: backups.Base, FinishedAt: end}}
			w.must(backups.Record(ctx, w.db, w.organization, later(end, time.Now()), []backups.Look{look}))
		}
	}
	for _, g := range w.growths {
		w.keepGrowth(g)
	}
	w.keepMessages()
	w.keepStatements()
	w.keepOrganization()
}

func (w *world) keepStatements() {
	batch := measurements.Batch{Organization: w.organization}
	for i, x := range w.executed { // a minute of its own each, because no sample has a key twice
		batch.Statements = append(batch.Statements, measurements.StatementSample{
			Instance: x.server, Engine: fleet.PostgreSQL, Database: x.server, At: x.hour.Add(time.Duration(1+i%50) * time.Minute), Interval: time.Minute,
			Statements: []measurements.Statement{{Key: x.key, Calls: x.calls, TotalMs: x.ms, Text: "SELECT " + x.key, Own: x.key == "own"}},
		})
	}
	if len(batch.Statements) == 0 {
		return
	}
	_, err := w.store.Write(w.t.Context(), batch)
	w.must(err)
	for rolled := 1; rolled > 0; {
		rolled, err = w.store.Roll(w.t.Context())
		w.must(err)
	}
}

func (w *world) keepOrganization() {
	member := uuid.New()
	w.db.MustExec(`INSERT INTO organizations (id, name, created_at) VALUES ($1, 'Acme', now())`, w.organization)
	w.db.MustExec(`INSERT INTO members (id, organization_id, email, name, role, status, created_at) VALUES ($1, $2, $3, 'Ana', 'admin', 'active', now())`,
		member, w.organization, member.String()+"@example.org")
	for _, x := range w.tokens {
		id := uuid.New()
		w.db.MustExec(`INSERT INTO tokens (id, kind, organization_id, member_id, name, prefix, token_hash, scopes, created_at, expires_at, revoked_at)
			VALUES ($1, 'api', $2, $3, 'CI', 'm', $4, '{}', $5, $6, $7)`, id, w.organization, member, id[:], x.created, x.expires, x.revoked)
	}
	for _, at := range w.dead {
		w.db.MustExec(`INSERT INTO jobs (id, organization_id, kind, subject, dead_at) VALUES ($1, $2, 'build', $3, $4)`, uuid.New(), w.organization, uuid.New(), at)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (w *world) keepAlert(a drawnAlert) {
	d := alert.Details{
		Title: "Something is wrong", Severity: a.severity, InstanceID: a.server, CreatedAt: a.created, FirstTriggeredAt: a.created, LastTriggeredAt: a.created,
		Rule: &alert.Rule{ID: a.rule, Name: a.rule},
	}
	raised := alert.Raised{Key: a.id.String(), Details: d}
	if a.maint {
		raised.Maintenance = &alert.Window{ID: uuid.New(), Until: a.created.Add(time.Hour)}
	}
	person := uuid.NewString()
	w.says(alert.StreamType, a.id, machine, a.created, raised)
	for _, m := range a.moments {
		switch m.what {
		case "seen":
			w.says(alert.StreamType, a.id, person, m.at, alert.Acknowledged{})
		case "mute":
			w.says(alert.StreamType, a.id, person, m.at, alert.Muted{})
		case "until":
			w.says(alert.StreamType, a.id, person, m.at, alert.MutedUntil{Until: m.until})
		case "unmute":
			w.says(alert.StreamType, a.id, person, m.at, alert.Unmuted{})
		case "again":
			w.says(alert.StreamType, a.id, machine, m.at, alert.TriggeredAgain{FirstTriggeredAt: a.created, LastTriggeredAt: m.at, StartedAt: m.at})
		case "resolved":
			w.says(alert.StreamType, a.id, person, m.at, alert.Resolved{ResolvedAt: m.at, LastTriggeredAt: a.created})
		case "over", "lapsed":
			w.says(alert.StreamType, a.id, machine, m.at, alert.AutoResolved{ResolvedAt: m.at, LastTriggeredAt: a.created, Lapsed: m.what == "lapsed"})
		}
	}
}

// keepGrowth keeps a size every day for three weeks, and one after the end of the day.
func (w *world) keepGrowth(g drawnGrowth) {
	const size = 1000.0
	for back := 20; back >= -1; back-- {
		at, used := w.to.AddDate(0, 0, -back).Add(-10*time.Minute), 400.0
		if g.days > 0 {
			used = size - 10*(g.days+float64(back))
		}
		w.must(room.RecordSizes(w.t.Context(), w.db, w.organization, room.InstanceSubject(g.server), at, []room.Size{{Kind: room.Volume, Name: "/data", Used: used, Limit: size}}))
	}
}

func (w *world) keepMessages() {
	rule, channel := uuid.New(), uuid.New()
	w.db.MustExec(`INSERT INTO notification_channels (id, organization_id, name, kind, created_at) VALUES ($1, $2, 'Pager', 'webhook', now())`, channel, w.organization)
	w.db.MustExec(`INSERT INTO notification_rules (id, organization_id, name, terms, created_at) VALUES ($1, $2, 'All', '{}', now())`, rule, w.organization)
	for _, m := range w.messages {
		id := uuid.New()
		w.db.MustExec(`INSERT INTO deliveries (id, organization_id, rule_id, channel_id, quiet, status, created_at, due_at, closed_at, status_at, last_error)
			VALUES ($1, $2, $3, $4, false, $5, $6, $6, $6, $7, 'refused')`, id, w.organization, rule, channel, m.status, m.created, m.ended)
		if m.alert == uuid.Nil {
			continue
		}
		dropped := ""
		if m.dropped {
			dropped = "muted"
		}
		w.db.MustExec(`INSERT INTO delivery_events (delivery_id, event_id, organization_id, type, at, position, alert_id, notice, dropped)
			VALUES ($1, $2, $3, 'alert.raised', $4, 1, $5, '{}', $6)`, id, uuid.New(), w.organization, m.created, m.alert, dropped)
	}
}

func (w *world) digest() day.Digest {
	w.t.Helper()
	return w.digestAt(w.to)
}

// digestAt is the digest as it is made at a time.
func (w *world) digestAt(now time.Time) day.Digest {
	w.t.Helper()
	ask := w.ask()
	ask.Now = now
	d, err := w.reader.Digest(w.t.Context(), ask)
	w.must(err)
	return d
}

func encoded(t *testing.T, d day.Digest) string {
	t.Helper()
	text, err := json.Marshal(day.FileOf(d))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
