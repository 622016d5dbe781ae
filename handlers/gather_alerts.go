package handlers

import (
	"context"

	"muster/domain/report"
	"muster/eventstore"
	"muster/internal/snapshot"
	"muster/projections/alerts"
)

// addAlerts takes in the alerts of a scorecard's window. What was recorded before
// the document's instant is seen, what is recorded meanwhile may be.
func (g *Inputs) addAlerts(ctx context.Context, in Gathering, doc *snapshot.Document) error {
	if in.Queued.Kind != report.InstanceScorecard || doc.Window == nil || len(doc.Instances) == 0 {
		return nil
	}
	if err := g.pass(ctx, eventstore.Fleet, alerts.Name); err != nil {
		return err
	}
	found, total, err := g.Alerts.Touching(ctx, alerts.Touched{
		Organization: in.OrganizationID, Instance: doc.Instances[0].ID, Database: in.Queued.Scope.DatabaseID,
		From: doc.Window.From, To: doc.Window.To,
	}, snapshot.MaxAlerts)
	if err != nil {
		return err
	}
	doc.Alerts = &snapshot.AlertHistory{Total: total}
	for _, a := range found {
		doc.Alerts.Listed = append(doc.Alerts.Listed, recordedAlert(a))
	}
	return nil
}

// recordedAlert is an alert as the document carries it.
func recordedAlert(a alerts.Alert) snapshot.Alert {
	out := snapshot.Alert{
		ID: a.ID, Title: a.Title, Severity: string(a.Severity), State: string(a.State), Muted: a.Muted,
		CreatedAt: a.CreatedAt, FirstTriggeredAt: a.FirstTriggeredAt, LastTriggeredAt: a.LastTriggeredAt, ResolvedAt: a.ResolvedAt,
		Occurrences: a.Occurrences,
	}
	if a.Rule != nil {
		out.Rule = a.Rule.Name
	}
	if a.Database != nil {
		// A name that nobody knows any more must not read as instance-wide.
		if out.Database = a.Database.Name; out.Database == "" {
			out.Database = "removed database " + a.Database.ID.String()
		}
	}
	return out
}
