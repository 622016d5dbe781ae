package handlers

import (
	"context"

	"muster/eventstore"
	"muster/handlers/gather/alertrecords"
	"muster/handlers/gather/servicerecords"
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
		Organization: in.OrganizationID, Whole: scope.Whole(), Instances: scope.InstanceIDs, Window: *doc.Window, Now: g.Now(),
	})
	return err
}

// addServiceRecords adds how servers kept their objectives in a window, as it was known at its end.
func (g *Inputs) addServiceRecords(ctx context.Context, in Gathering, doc *snapshot.Document) error {
	all, err := g.readersSeeAll(ctx, in)
	if err != nil {
		return err
	}
	scope := in.Queued.Scope
	doc.ServiceRecords, err = servicerecords.Source{DB: g.DB, Events: g.Events, Decode: g.Logged.Decode, Measurements: g.Measurements}.Gather(ctx, servicerecords.Scope{
		Organization: in.OrganizationID, Whole: scope.Whole(), Instances: scope.InstanceIDs, Window: *doc.Window, Texts: all, Now: g.Now(),
	})
	return err
}
