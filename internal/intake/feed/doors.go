package feed

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/alerting"
	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/internal/intake"
	"muster/internal/intake/resolve"
)

// Doors are those of the native feed. What they take has the form of openapi.yaml
// already.
type Doors struct {
	Commands Commands
	Places   *resolve.Resolver
	Store    intake.Store
	Texts    Texts
	Now      func() time.Time

	Assessments Assessments
	Accepted    Accepted

	Heartbeats Heartbeats
	Servers    Servers
}

// Texts says whether an organization keeps the texts of statements; *accounts.Store does.
type Texts interface {
	KeepsTexts(ctx context.Context, organization uuid.UUID) (bool, error)
}

// Commands is the write side; *commands.Service is one.
type Commands interface {
	RecordFleet(ctx context.Context, actor usecase.Actor, items []inventory.Item) ([]inventory.IDs, usecase.Mark, error)
	RecordAlerts(ctx context.Context, actor usecase.Actor, items []alerting.Item) ([]alerting.ID, usecase.Mark, error)
	// SpendEvents counts events that are about to be appended, and gives them back where they
	// were not.
	SpendEvents(ctx context.Context, actor usecase.Actor, n int) (usecase.Spent, error)
	RecordAssessmentTx(ctx context.Context, tx *sqlx.Tx, actor usecase.Actor, all ...fleet.Assessed) (usecase.Mark, error)
}

// TakeFleet records instances and databases, and forgets what was sent of instances that
// are removed. Errors are the use case's.
func (d *Doors) TakeFleet(ctx context.Context, from intake.Caller, items []inventory.Item) (receipt intake.Receipt, err error) {
	if receipt.Fleet, receipt.Mark, err = d.Commands.RecordFleet(ctx, from, items); err != nil {
		return receipt, err
	}
	databases := 0
	for _, i := range items {
		databases += len(i.Databases)
	}
	for i, item := range items {
		if item.Removed { // if this fails, the collectors delete the rest
			if err := d.Assessments.ForgetFed(ctx, from.OrganizationID, receipt.Fleet[i].ID); err != nil {
				return receipt, err
			}
		}
	}
	receipt.Record(intake.Instance, len(items))
	receipt.Record(intake.Database, databases)
	return receipt, nil
}

// TakeAlerts records alerts. Errors are the use case's.
func (d *Doors) TakeAlerts(ctx context.Context, from intake.Caller, items []alerting.Item) (receipt intake.Receipt, err error) {
	if receipt.Alerts, receipt.Mark, err = d.Commands.RecordAlerts(ctx, intake.Machine(from), items); err == nil {
		receipt.Record(intake.Alert, len(items))
	}
	return receipt, err
}
