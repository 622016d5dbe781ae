package handlers

import (
	"context"

	"muster/eventstore"
	"muster/handlers/gather/alertrecords"
	"muster/internal/report/snapshot"
	"muster/projections/alerts"
)

// addAlertRecords adds the alerts of a window, as the log had them at its end.
func (g *Inputs) addAlertRecords(ctx context.Context, in Gathering, doc *snapshot.Document) (err error) {
	if err := g.pass(ctx, eventstore.Fleet, alerts.Name); err != nil {
		return err
	}
	scope := in.Queued.Scope
	doc.AlertRecords, err = alertrecords.Source{DB: g.DB, Events: g.Events, Decode: g.Logged.Decode, Names: g.Accounts.Names}.Gather(ctx, alertrecords.Scope{
		Organization: in.OrganizationID, Whole: len(scope.InstanceIDs) == 0 && len(scope.Tags) == 0 && scope.TeamID == nil,
		Instances: scope.InstanceIDs, Window: *doc.Window,
	})
	return err
}
