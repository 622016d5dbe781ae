// Package standing gathers what caps the score of a server beside its checks: the support of its version, its open alerts
// and the fullest of its volumes. The inputs of a report and the score of an assessment take them from here, so that the
// history of scores and a scorecard agree. What package serverfacts adds to a scorecard (measured backups, tablespaces and
// the other volumes) caps that scorecard only.
//
// # What may go wrong
//
// An assessment arrives that is older than an hour. The alerts and the volumes of its time are not known any more: only
// the end of support caps its score. The same holds if the fleet's read model does not have the server yet. An alert that
// was raised a moment ago may not be in the read model: it counts from the next assessment.
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
