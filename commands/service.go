package commands

import (
	"context"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/alerting"
	"muster/commands/inventory"
	"muster/commands/maintenance"
	"muster/commands/marks"
	"muster/commands/notifying"
	"muster/commands/objectives"
	"muster/commands/usecase"
	"muster/domain/team"
	"muster/internal/accounts"
)

// Instances answers what the write side must know of the fleet. All look at
// one organization only; foreign and unknown ids are absent alike.
type Instances interface {
	accounts.Worlds
	maintenance.Instances
	// SelectedNames returns the names of the active ones that a selector matches.
	SelectedNames(ctx context.Context, organization uuid.UUID, selector team.Selector) (map[uuid.UUID]string, error)
	// DatabaseOn returns the name of a database if it is on that instance.
	DatabaseOn(ctx context.Context, organization, instance, database uuid.UUID) (name string, ok bool, err error)
}

// Checks answers which checks there are; *catalogue.Catalogue does.
type Checks interface{ Has(id string) bool }

// Risks answers which risks are in the register of sensitive data; *assessment.Store does.
type Risks interface {
	// RiskOn returns the instance and the table of a risk.
	RiskOn(ctx context.Context, organization uuid.UUID, id string) (instance uuid.UUID, table string, ok bool, err error)
}

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

// Texts are those of statements, and the names of people whose sessions were sampled;
// *pgstore.Store keeps them.
type Texts interface {
	// DropTexts deletes an organization's, in the transaction that turns them off.
	DropTexts(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID) error
	// DropPeople deletes an organization's users, applications and clients of sessions, likewise.
	DropPeople(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID) error
}

// Limits are the creation limits of the contract, §14. The zero value lifts them.
type Limits struct {
	CreatesPerHour int // per member
	BuildingAtOnce int // per organization
}

// Service runs the use cases: those of people and of reports itself, those of the fleet, of alerts,
// of notifications, of marks, of maintenance windows and of objectives by its rooms.
type Service struct {
	*usecase.Base
	*inventory.Fleet
	*alerting.Alerts
	*marks.Marks
	*maintenance.Windows
	*objectives.Objectives
	*notifying.Notifications
	Needs
}

// Needs is what the use cases ask of others, beside their base.
type Needs struct {
	Instances   Instances
	Connections inventory.Connections // nil: no instance has any
	Checks      Checks
	Risks       Risks     // nil: there are none
	Schedules   Schedules // nil: there may be any number
	Jobs        Jobs
	Texts       Texts
	Seal        notifying.Sealer // of channels' addresses
	Channels    notifying.Channels
	Mails       bool // whether a mail server is set: new organizations have their administrators told
	Limits      Limits
}

// New returns the use cases over one base.
func New(base usecase.Base, needs Needs) *Service {
	instances := inventory.New(&base, needs.Connections)
	windows := maintenance.New(&base, needs.Instances)
	return &Service{
		Base: &base, Fleet: instances, Alerts: alerting.New(&base, instances, windows), Marks: marks.New(&base), Windows: windows, Objectives: objectives.New(&base, needs.Instances), Needs: needs,
		Notifications: notifying.New(&base, notifying.Needs{Seal: needs.Seal, Channels: needs.Channels, Instances: needs.Instances}),
	}
}
