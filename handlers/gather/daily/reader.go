package daily

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/domain/organization"
	"muster/eventstore"
	"muster/handlers/gather/alertlog"
	"muster/internal/accounts"
	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/feed"
	"muster/internal/measurements"
	"muster/internal/report/serverfacts"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/day"
	"muster/projections"
	"muster/projections/exceptions"
	servers "muster/projections/fleet"
	"muster/projections/history"
	"muster/projections/schedules"
)

// ahead is how far a digest looks for what is due or ends.
const ahead = 14 * 24 * time.Hour

// Server is one that a digest is about.
type Server struct {
	ID            uuid.UUID
	Name, Version string
	Host, Owner   string // empty: not known; nobody
	Engine        fleet.Engine
	CreatedAt     time.Time
	Tags          fleet.Tags
	Databases     map[uuid.UUID]servers.Database
}

// Ask is what a digest is made of.
type Ask struct {
	snapshot.Window
	Organization uuid.UUID
	DueDays      organization.DueDays
	Servers      []Server // active ones
	Whole        bool     // they are all of the organization
	Zone         *time.Location
	Texts        bool      // of statements may be printed
	Now          time.Time // when the digest is made
}

// Statements are those of the measurements; *measurements.Tiles reads them.
type Statements interface {
	Statements(ctx context.Context, organization uuid.UUID, scope measurements.StatementScope, span measurements.Span, now time.Time) (measurements.Statements, error)
}

// Reader reads the facts of digests.
type Reader struct {
	DB         *sqlx.DB
	Events     *eventstore.Store
	Decode     projections.Decode
	Accounts   *accounts.Store
	Exceptions *exceptions.Reader
	History    *history.Reader
	Schedules  *schedules.Reader
	Catalogue  *catalogue.Catalogue
	Feed       feed.Source
	Statements Statements
	Names      measurements.Store // of statements
}

// facts are all that a digest is counted from.
type facts struct {
	Ask
	catalogue  *catalogue.Catalogue
	alerts     []*alertlog.Alert // by their raise
	spans      spansOf
	findings   []finding
	accepted   []accepted
	agents     []time.Time // when each was last heard
	senders    *int
	feed       *feed.Feed
	tokens     []token
	backups    map[uuid.UUID]*serverfacts.Backups
	sizes      []serverfacts.Sized
	statements statementFacts
	messages   []message
	held       []uuid.UUID // alerts whose message was dropped because they were muted
	reports    *history.Ended
	runs       []schedules.Past
	dead       int
}

// Digest makes the digest of a day. The read models have to have the events of the day.
func (r *Reader) Digest(ctx context.Context, ask Ask) (day.Digest, error) {
	f := &facts{Ask: ask, catalogue: r.Catalogue}
	for _, read := range []func(context.Context, *facts) error{
		r.readAlerts, r.readInstruments, r.readFindings, r.readBackups, r.readRoom, r.readStatements, r.readDelivery, r.readMuster,
	} {
		if err := read(ctx, f); err != nil {
			return day.Digest{}, err
		}
	}
	return f.digest(), nil
}

// digest puts the figures together.
func (f *facts) digest() day.Digest {
	d := day.Digest{
		From: f.From.UTC(), To: f.To.UTC(), Zone: day.ZoneOf(f.Zone, f.To), Whole: f.Whole, Servers: len(f.Servers),
		Alerts: f.balance(), Due: f.due(), Room: f.room(), Statements: f.slower(), Held: f.heldBack(),
		Delivery: f.delivery(), Muster: f.muster(),
	}
	if f.Now.After(f.To.Add(late)) {
		at := instant.Cut(f.Now)
		d.AsOf = &at
	}
	heard := f.heard()
	d.Instruments = f.instruments(heard)
	d.Trouble = f.trouble(heard)
	d.Verdict = f.verdict(heard, d)
	return d
}

// ids are the servers'.
func (f *facts) ids() []uuid.UUID {
	ids := make([]uuid.UUID, len(f.Servers))
	for i, s := range f.Servers {
		ids[i] = s.ID
	}
	return ids
}

// named is the server of an id; nil: it is none of these.
func (f *facts) named(id uuid.UUID) *Server {
	for i := range f.Servers {
		if f.Servers[i].ID == id {
			return &f.Servers[i]
		}
	}
	return nil
}
