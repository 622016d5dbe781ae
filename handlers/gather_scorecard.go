package handlers

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/commands/alerting/people"
	"muster/domain/alert"
	"muster/domain/timegrid"
	"muster/eventstore"
	"muster/internal/report/serverfacts"
	"muster/internal/report/snapshot"
	"muster/projections/alerts"
	"muster/projections/health"
)

// addScores takes in what the assessments of the days of a scorecard's window came to, and
// the last before it, where the log has them.
func (g *Inputs) addScores(ctx context.Context, in Gathering, doc *snapshot.Document) error {
	if doc.Window == nil || len(doc.Instances) == 0 || in.Queued.Scope.DatabaseID != nil {
		return nil
	}
	if err := g.pass(ctx, eventstore.Fleet, health.Name); err != nil {
		return err
	}
	instances := []uuid.UUID{doc.Instances[0].ID}
	last, err := g.Health.Last(ctx, in.OrganizationID, instances, doc.Window.From)
	if err != nil {
		return err
	}
	if score, ok := last[instances[0]]; ok && score.Score != nil {
		doc.ScoreAtStart = &snapshot.ScoreAtStart{Score: *score.Score, Grade: score.Grade, AssessedAt: score.At.UTC()}
	}
	days := daysOf(*doc.Window, doc.AsOf)
	scores, err := g.Health.Days(ctx, in.OrganizationID, instances, days.Start())
	if err != nil {
		return err
	}
	line := make([]*int, days.Len())
	for _, score := range scores {
		if day := days.Index(score.Day); day < len(line) {
			line[day] = score.Score
		}
	}
	doc.ScoreByDay = &snapshot.ScoreByDay{Start: days.Start(), Scores: line}
	return nil
}

// daysOf are the days that a window touches, up to that of an instant.
func daysOf(w snapshot.Window, until time.Time) timegrid.Window {
	if w.To.After(until) && until.After(w.From) {
		w.To = until
	}
	return timegrid.Window{From: w.From, To: w.To, Size: timegrid.Day}
}

// addAlerts adds the alerts of a scorecard's window. Events from before the document's instant
// are included, and events during the build may be.
func (g *Inputs) addAlerts(ctx context.Context, in Gathering, doc *snapshot.Document) error {
	if doc.Window == nil || len(doc.Instances) == 0 {
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
	named, err := g.people(ctx, in, found)
	if err != nil {
		return err
	}
	doc.Alerts = &snapshot.AlertHistory{Total: total}
	for _, a := range found {
		a.Title = alert.Named(a.Title, named[a.ID].All())
		doc.Alerts.Listed = append(doc.Alerts.Listed, recordedAlert(a))
	}
	return nil
}

// addOpenAlerts counts the alerts of each instance that are open now and not muted.
func (g *Inputs) addOpenAlerts(ctx context.Context, in Gathering, doc *snapshot.Document) error {
	if len(doc.Instances) == 0 {
		return nil
	}
	if err := g.pass(ctx, eventstore.Fleet, alerts.Name); err != nil {
		return err
	}
	ids := instanceIDs(doc)
	open, err := g.Alerts.OpenByInstance(ctx, in.OrganizationID, ids)
	if err != nil {
		return err
	}
	for i, id := range ids {
		doc.Instances[i].OpenAlerts = &snapshot.OpenAlerts{Open: open[id].Open, Critical: open[id].Critical}
	}
	return nil
}

// people are whose sessions alerts speak of. A document that anybody gets from whom the pages hide that names nobody.
func (g *Inputs) people(ctx context.Context, in Gathering, found []alerts.Alert) (map[uuid.UUID]people.Kept, error) {
	if all, err := g.readersSeeAll(ctx, in); err != nil || !all {
		return nil, err
	}
	ids := make([]uuid.UUID, len(found))
	for i, a := range found {
		ids[i] = a.ID
	}
	return people.Of(ctx, g.DB, in.OrganizationID, ids)
}

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
		// An unknown name must not read as instance-wide.
		if out.Database = a.Database.Name; out.Database == "" {
			out.Database = "removed database " + a.Database.ID.String()
		}
	}
	return out
}

// addUtilization takes in how busy the hosts of a scorecard's instance were, hour by
// hour. What arrived seconds before may not be in it yet.
func (g *Inputs) addUtilization(ctx context.Context, in Gathering, doc *snapshot.Document) (err error) {
	if doc.Window == nil || len(doc.Instances) == 0 {
		return nil
	}
	doc.Utilization, err = serverfacts.Utilization(ctx, g.Measurements, in.OrganizationID, doc.Instances[0], *doc.Window)
	return err
}
