package alerts

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	domain "muster/domain/alert"
	"muster/domain/fleet"
	"muster/eventstore"
	"muster/projections"
)

// Reader answers from the live generation of the alerts projection, with what
// alert_last_seen knows beyond it. Every query carries the organization.
type Reader struct {
	db     *sqlx.DB
	events *eventstore.Store
	decode projections.Decode
}

// NewReader returns a reader on db; events and decode are for timelines.
func NewReader(db *sqlx.DB, events *eventstore.Store, decode projections.Decode) *Reader {
	return &Reader{db: db, events: events, decode: decode}
}

// Place is an instance or a database; it may have been removed.
type Place struct {
	ID   uuid.UUID
	Name string
}

// Alert is one alert. Times are UTC.
type Alert struct {
	ID               uuid.UUID
	Title            string
	Description      string
	Severity         domain.Severity
	State            domain.State
	Muted            bool
	Rule             *domain.Rule
	CreatedAt        time.Time
	FirstTriggeredAt time.Time
	LastTriggeredAt  time.Time
	ResolvedAt       *time.Time // exactly where it is closed
	Occurrences      int
	Instance         *Place // its own, or its database's
	Database         *Place
}

// Order is what a page is sorted by.
type Order string

// The orders. Rows that are alike come by last triggered, newest first, then by id.
const (
	ByLastTriggered Order = "lastTriggeredAt"
	ByCreated       Order = "createdAt"
	BySeverity      Order = "severity"
	ByState         Order = "state"
)

// Query selects a page of alerts.
type Query struct {
	Organization uuid.UUID
	Scope        fleet.Scope
	From, To     time.Time // of last triggered; zero: no bound. From is inclusive, To exclusive
	Closed       *bool
	Muted        *bool
	Severities   []domain.Severity // empty: all
	Search       string            // substring of the title, case-insensitive
	Order        Order
	Descending   bool
	Page, Size   int // 1-based
}

// Page returns a page of alerts and how many there are in all.
func (r *Reader) Page(ctx context.Context, q Query) ([]Alert, int64, error) { panic("not yet") }

// Alert returns one; ok is false where this organization has none of that id.
func (r *Reader) Alert(ctx context.Context, organization, id uuid.UUID) (a Alert, ok bool, err error) {
	panic("not yet")
}

// Moment is something that happened to an alert: triggered, acknowledged,
// muted, unmuted, resolved.
type Moment struct {
	At     time.Time
	Event  string
	Member uuid.UUID // uuid.Nil: nobody, but what sends alerts
}

// Timeline returns what happened to an alert, oldest first, from its stream.
func (r *Reader) Timeline(ctx context.Context, organization, id uuid.UUID) ([]Moment, error) {
	panic("not yet")
}
