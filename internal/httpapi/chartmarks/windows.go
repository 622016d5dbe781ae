package chartmarks

import (
	"context"
	"time"

	"github.com/google/uuid"

	windows "muster/commands/maintenance"
	domain "muster/domain/fleet"
	"muster/domain/maintenance"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
)

// around is how far before and behind the window of an answer a maintenance window may begin or end that touches it.
const around = 32 * 24 * time.Hour

// windowMarks are the times of maintenance windows that touch a window and select servers in scope.
func (s *MarkRoutes) windowMarks(ctx context.Context, scope domain.Scope, from, to time.Time) ([]api.Mark, error) {
	organization := wire.Caller(ctx).Organization.ID
	versions, err := windows.Versions(ctx, s.DB, organization, from)
	if err != nil || len(versions) == 0 {
		return nil, err
	}
	servers, err := s.Fleet.TagsWithin(ctx, organization, scope)
	if err != nil {
		return nil, err
	}
	names, err := windows.Names(ctx, s.DB, organization, wire.List(versions, func(v maintenance.Version) uuid.UUID { return v.ID }))
	if err != nil {
		return nil, err
	}
	var marks []api.Mark
	for _, v := range versions {
		n := 0
		for id, tags := range servers {
			if v.Terms.Selector.Matches(id, tags) {
				n++
			}
		}
		if n == 0 {
			continue
		}
		for _, span := range v.Spans(maintenance.Span{From: from.Add(-around), To: to.Add(around)}) {
			if !span.To.After(from) || !span.From.Before(to) {
				continue
			}
			until := span.To.UTC()
			marks = append(marks, api.Mark{
				Id: markID(markMaintenance, v.ID, span.From.UTC().Format(time.RFC3339Nano)), At: span.From.UTC(), Until: &until, Kind: markMaintenance,
				Text: names[v.ID], Tags: map[string]string{}, InstanceCount: &n,
			})
		}
	}
	return marks, nil
}
