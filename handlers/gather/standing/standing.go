package standing

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/internal/assessment/changes"
	"muster/internal/assessment/feed"
	"muster/internal/report/serverfacts"
	"muster/internal/report/snapshot"
	"muster/projections/alerts"
	"muster/projections/fleet"
)

// recentAge is the age up to which an assessment has the alerts, the backups and the room of now.
const recentAge = time.Hour

// Source reads what caps scores.
type Source struct {
	Feed   feed.Source
	Fleet  *fleet.Reader
	Alerts *alerts.Reader
	Facts  serverfacts.Source
	Now    func() time.Time
}

// Of is what caps the scores of assessments, in their order. It reads once for all of them.
func (s Source) Of(ctx context.Context, organization uuid.UUID, all []changes.Assessed) ([]changes.Standing, error) {
	known, err := s.Feed.Current(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]uuid.UUID, len(all))
	for i, a := range all {
		ids[i] = a.Instance
	}
	found, _, err := s.Fleet.Instances(ctx, fleet.Query{Organization: organization, IDs: ids, Page: 1, Size: len(ids)})
	if err != nil {
		return nil, err
	}
	now := s.Now()
	servers, recent := map[uuid.UUID]snapshot.Instance{}, []snapshot.Instance(nil)
	for _, i := range found {
		servers[i.ID] = snapshot.Instance{ID: i.ID, Name: i.Name, Engine: string(i.Engine), Version: i.Version, Host: i.Host, Active: true}
		if slices.ContainsFunc(all, func(a changes.Assessed) bool { return a.Instance == i.ID && now.Sub(a.At) <= recentAge }) {
			recent = append(recent, servers[i.ID])
		}
	}
	open, facts, err := s.now(ctx, organization, recent, now)
	if err != nil {
		return nil, err
	}
	standings := make([]changes.Standing, len(all))
	for i, a := range all {
		in := servers[a.Instance]
		in.ID, in.Engine, in.Active, in.Assessment = a.Instance, string(a.Engine), true, a.Facts
		doc := snapshot.Document{AsOf: a.At, Instances: []snapshot.Instance{in}}
		Versions(known, &doc)
		standings[i].Release = doc.Instances[0].Release
		if of := facts[a.Instance]; of != nil && now.Sub(a.At) <= recentAge {
			standings[i].Server = of
			standings[i].OpenAlerts = &snapshot.OpenAlerts{Open: open[a.Instance].Open, Critical: open[a.Instance].Critical}
		}
	}
	return standings, nil
}

// now are the open alerts of servers and the facts that cap their scores.
func (s Source) now(ctx context.Context, organization uuid.UUID, servers []snapshot.Instance, at time.Time) (map[uuid.UUID]alerts.OpenCount, map[uuid.UUID]*snapshot.Server, error) {
	if len(servers) == 0 {
		return nil, nil, nil
	}
	ids := make([]uuid.UUID, len(servers))
	for i, in := range servers {
		ids[i] = in.ID
	}
	open, err := s.Alerts.OpenByInstance(ctx, organization, ids)
	if err != nil {
		return nil, nil, err
	}
	facts, err := s.Facts.Capping(ctx, organization, servers, at)
	return open, facts, err
}
