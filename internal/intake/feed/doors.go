package feed

import (
	"context"
	"time"

	"muster/commands"
	"muster/internal/intake"
	"muster/internal/intake/places"
)

// Doors are those of the native feed. What they take has the form of openapi.yaml
// already. Assessments (contract, §23) will be the fourth.
type Doors struct {
	Fleet   *FleetDoor
	Alerts  *AlertDoor
	Samples *SampleDoor
}

// New returns the doors.
func New(c Commands, p *places.Resolver, s intake.Store, now func() time.Time) Doors {
	return Doors{Fleet: &FleetDoor{c}, Alerts: &AlertDoor{c}, Samples: &SampleDoor{p, s, now}}
}

// FleetDoor takes what another tool knows of instances and databases.
type FleetDoor struct{ Commands Commands }

// AlertDoor takes what another tool knows of alerts.
type AlertDoor struct{ Commands Commands }

// Commands is the write side; *commands.Service is one.
type Commands interface {
	RecordFleet(ctx context.Context, actor commands.Actor, items []commands.FleetItem) ([]commands.FleetIDs, commands.Mark, error)
	RecordAlerts(ctx context.Context, actor commands.Actor, items []commands.AlertItem) ([]commands.AlertID, commands.Mark, error)
}

// Take records instances and databases, all or nothing. The rules, and what a limited
// token may write, are the use case's, which decides under the locks of their keys.
func (d *FleetDoor) Take(ctx context.Context, from intake.Caller, items []commands.FleetItem) (receipt intake.Receipt, err error) {
	if receipt.Fleet, receipt.Mark, err = d.Commands.RecordFleet(ctx, from, items); err != nil {
		return receipt, err
	}
	databases := 0
	for _, i := range items {
		databases += len(i.Databases)
	}
	receipt.Record(intake.Instance, len(items))
	receipt.Record(intake.Database, databases)
	return receipt, nil
}

// Take records alerts, all or nothing; as with the fleet, by the use case's rules.
func (d *AlertDoor) Take(ctx context.Context, from intake.Caller, items []commands.AlertItem) (receipt intake.Receipt, err error) {
	if receipt.Alerts, receipt.Mark, err = d.Commands.RecordAlerts(ctx, intake.Machine(from), items); err == nil {
		receipt.Record(intake.Alert, len(items))
	}
	return receipt, err
}
