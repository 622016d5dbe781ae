package commands

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/domain/report"
	"muster/eventstore"
	"muster/internal/accounts"
)

// Actor is on whose behalf a command runs. MemberID is uuid.Nil for the system
// itself, and then Component says which part of it.
type Actor struct {
	OrganizationID uuid.UUID
	MemberID       uuid.UUID
	Component      string // "ingest", "collector", "worker", "cli"
	RequestID      string
	// InstanceIDs is what an ingest token is limited to; nil: the organization.
	InstanceIDs []uuid.UUID
}

// Mark is where a write ended up, so that the caller can wait for the
// projections to pass it.
type Mark struct {
	Log      eventstore.Log
	Position int64
}

// Instances answers what the write side must know of the fleet. Both look at
// one organization only; foreign and unknown ids are absent alike.
type Instances interface {
	// InstanceNames returns the names of those ids that exist and are not removed.
	InstanceNames(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]string, error)
	// DatabaseOn returns the name of a database if it is on that instance.
	DatabaseOn(ctx context.Context, organization, instance, database uuid.UUID) (name string, ok bool, err error)
}

// Members answers who may receive a report.
type Members interface {
	// Receivable returns those ids that are invited or active members of the organization.
	Receivable(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]bool, error)
}

// Jobs queues background work in the transaction that appends the event
// that asks for it. handlers/jobs satisfies it.
type Jobs interface {
	InsertBuild(ctx context.Context, tx *sqlx.Tx, organization, report uuid.UUID) error
}

// Limits are the creation limits of the contract, §14. The zero value lifts them.
type Limits struct {
	CreatesPerHour int // per member
	BuildingAtOnce int // per organization
}

// Service runs the use cases; each has a file of its own.
type Service struct {
	DB        *sqlx.DB
	Events    *eventstore.Store
	Instances Instances
	Members   Members
	Jobs      Jobs
	Accounts  *accounts.Store
	Now       func() time.Time
	Limits    Limits
}

// RuleError says that a request was readable but breaks rules: all of them.
type RuleError struct {
	Code   string // the code of the whole answer, contract §1.6
	Title  string
	Detail string
	Fields []FieldError
	// RetryAfter is set for too_many_building and rate_limited.
	RetryAfter time.Duration
}

func (e *RuleError) Error() string { return e.Code + ": " + e.Detail }

// FieldError is one broken rule with the place in the body that breaks it.
type FieldError struct {
	Pointer string // JSON pointer fragment, "#/scope/to"
	Code    string
	Detail  string
	Params  map[string]any
}

// ForbiddenError: the actor may not touch what it named.
type ForbiddenError struct{ Detail string }

func (e *ForbiddenError) Error() string { return e.Detail }

// NotFoundError: no such thing in this organization.
type NotFoundError struct{ What string }

func (e *NotFoundError) Error() string { return e.What + " not found" }

// RequestReport is the input of the use case of the same name.
type RequestReport struct {
	Kind         report.Kind
	InstanceIDs  []uuid.UUID
	DatabaseID   *uuid.UUID
	From, To     *time.Time
	RecipientIDs []uuid.UUID
}

// RequestedReport is its outcome.
type RequestedReport struct {
	ReportID           uuid.UUID
	Reused             bool
	RecipientsNotAdded []uuid.UUID
	Mark               Mark
}

// RegisterInstance is an instance as a person or a feed names it.
type RegisterInstance struct {
	ExternalID string // empty: the new instance's id
	Name       string
	Engine     fleet.Engine
	Version    string
	Host       string
	Active     bool
	CreatedAt  time.Time // zero: now
}

// FleetItem is one instance of a batch with its databases.
type FleetItem struct {
	ExternalID string
	Name       string
	Engine     fleet.Engine
	Version    *string // nil leaves what is known
	Host       *string
	Active     *bool
	CreatedAt  time.Time
	Removed    bool
	Databases  []FleetDatabase
}

// FleetDatabase is one database of a FleetItem.
type FleetDatabase struct {
	ExternalID string
	Name       string
	CreatedAt  time.Time
	Removed    bool
}

// FleetIDs is the outcome for one FleetItem, in the same order.
type FleetIDs struct {
	ExternalID string
	ID         uuid.UUID
	Databases  []FleetIDs
}

// ChangeInstance changes what is not nil.
type ChangeInstance struct {
	Name    *string
	Version *string
	Active  *bool
}
