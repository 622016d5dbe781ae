package commands

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/domain/team"
	"muster/eventstore"
	"muster/internal/accounts"
)

// Actor is on whose behalf a command runs. MemberID is uuid.Nil for the system
// itself, and then Component says which part of it.
type Actor struct {
	OrganizationID uuid.UUID
	MemberID       uuid.UUID
	Token          uuid.UUID // that a program called with; uuid.Nil: none
	Component      string    // "ingest", "collector", "worker", "cli"
	RequestID      string
	Limit          fleet.Limit // of an ingest token
	Sender         string      // that a call of a feed names; empty: none
	Administers    bool        // may do what is kept to administrators
}

// Mark is where a write ended up, so that the caller can wait for the
// projections to pass it.
type Mark struct {
	Log      eventstore.Log
	Position int64
}

// Instances answers what the write side must know of the fleet. All look at
// one organization only; foreign and unknown ids are absent alike.
type Instances interface {
	// InstanceNames returns the names of those ids that exist and are not removed.
	InstanceNames(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]string, error)
	// SelectedNames returns the names of the active ones that a selector matches.
	SelectedNames(ctx context.Context, organization uuid.UUID, selector team.Selector) (map[uuid.UUID]string, error)
	// DatabaseOn returns the name of a database if it is on that instance.
	DatabaseOn(ctx context.Context, organization, instance, database uuid.UUID) (name string, ok bool, err error)
}

// Checks answers which checks there are; *catalogue.Catalogue does.
type Checks interface{ Has(id string) bool }

// Jobs queues background work in the transaction that appends the event
// that asks for it. handlers/jobs satisfies it.
type Jobs interface {
	InsertBuild(ctx context.Context, tx *sqlx.Tx, organization, report uuid.UUID) error
	// InsertRun has a schedule looked at now.
	InsertRun(ctx context.Context, tx *sqlx.Tx, organization, schedule uuid.UUID) error
	// InsertErasure queues the erasure of a report's inputs because a person whom they name was
	// erased.
	InsertErasure(ctx context.Context, tx *sqlx.Tx, organization, report uuid.UUID) error
	// HastenMails makes the mails that wait for a member due now.
	HastenMails(ctx context.Context, tx *sqlx.Tx, organization, member uuid.UUID) error
	// DeadBuild returns the report whose build is a job that was set aside; ok is
	// false where this organization has no such job, or it is not a build.
	DeadBuild(ctx context.Context, organization, job uuid.UUID) (report uuid.UUID, ok bool, err error)
	// Retry lets a job that was set aside run again.
	Retry(ctx context.Context, organization, job uuid.UUID) error
}

// Schedules are those that there are; *schedules.Reader counts them.
type Schedules interface {
	// Count is how many an organization has, as q sees it.
	Count(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID) (int64, error)
}

// Texts are those of statements; *pgstore.Store keeps them.
type Texts interface {
	// DropTexts deletes an organization's, in the transaction that turns them off.
	DropTexts(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID) error
}

// Budgets bound what an organization's senders use; *budgets.Book does. What they refuse is an
// error of theirs, which passes through.
type Budgets interface {
	// SpendEvents counts events that a call appends; asked of them are refused if there is no
	// room for them. giveBack takes them back, because they were not appended.
	SpendEvents(ctx context.Context, organization, token uuid.UUID, asked, counted int64) (giveBack func(), err error)
	// CountOpen counts alerts that a transaction opens and closes, by the token that raised
	// each. A call of token may be refused; uuid.Nil never is.
	CountOpen(ctx context.Context, tx sqlx.ExtContext, organization, token uuid.UUID, changes map[uuid.UUID]int64) error
}

// Limits are the creation limits of the contract, §14. The zero value lifts them.
type Limits struct {
	CreatesPerHour int // per member
	BuildingAtOnce int // per organization
}

// Service runs the use cases.
type Service struct {
	DB          *sqlx.DB
	Events      *eventstore.Store
	Instances   Instances
	Checks      Checks
	Schedules   Schedules   // nil: there may be any number
	Connections Connections // nil: no instance has any
	Jobs        Jobs
	Texts       Texts
	Accounts    *accounts.Store
	Seal        Sealer // of channels' addresses
	Channels    Channels
	Mails       bool // whether a mail server is set: new organizations have their administrators told
	Now         func() time.Time
	Limits      Limits
	Budgets     Budgets // of senders; nil: there are none
}
