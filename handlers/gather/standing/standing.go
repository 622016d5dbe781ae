package standing

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/internal/assessment/changes"
	"muster/internal/assessment/feed"
	"muster/internal/report/snapshot"
	"muster/projections/alerts"
	"muster/projections/fleet"
)

// recent is the age up to which an assessment has the alerts and the volumes of now.
const recent = time.Hour

// volumeDays is the window of the forecast of volumes, that of a weekly scorecard.
const volumeDays = 7

// Source reads what caps scores.
type Source struct {
	Feed         feed.Source
	Fleet        *fleet.Reader
	Alerts       *alerts.Reader
	Measurements Measurements
	Now          func() time.Time
}

// Of is what caps the score of an assessment.
func (s Source) Of(ctx context.Context, organization uuid.UUID, assessed snapshot.Instance, at time.Time) (c changes.Standing, err error) {
	known, err := s.Feed.Current(ctx)
	if err != nil {
		return c, err
	}
	found, _, err := s.Fleet.Instances(ctx, fleet.Query{Organization: organization, IDs: []uuid.UUID{assessed.ID}, Page: 1, Size: 1})
	if err != nil {
		return c, err
	}
	for _, i := range found {
		assessed.Version, assessed.Host = i.Version, i.Host
	}
	doc := snapshot.Document{AsOf: at, Instances: []snapshot.Instance{assessed}}
	Versions(known, &doc)
	c.Release = doc.Instances[0].Release
	if s.Now().Sub(at) > recent || len(found) == 0 {
		return c, nil
	}
	open, err := s.Alerts.OpenByInstance(ctx, organization, []uuid.UUID{assessed.ID})
	if err != nil {
		return c, err
	}
	c.OpenAlerts = &snapshot.OpenAlerts{Open: open[assessed.ID].Open, Critical: open[assessed.ID].Critical}
	c.Utilization, err = Utilization(ctx, s.Measurements, organization, assessed, snapshot.Window{From: at.AddDate(0, 0, -volumeDays), To: at})
	return c, err
}
