package objectives

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/objectives"
	"muster/domain/fleet"
	"muster/domain/objective"
	"muster/domain/team"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/watch/uptime"
	"muster/projections"
	projected "muster/projections/fleet"
)

// ObjectiveRoutes are the operations on objectives.
type ObjectiveRoutes struct {
	DB       *sqlx.DB
	Commands *commands.Service
	Fleet    *projected.Reader
	Judge    uptime.Judge
	Waiter   projections.Waiter
	Now      func() time.Time
}

func (s *ObjectiveRoutes) ListObjectives(ctx context.Context, _ api.ListObjectivesRequestObject) (api.ListObjectivesResponseObject, error) {
	shown, tag, err := s.list(ctx)
	return api.ListObjectives200JSONResponse{Body: shown, Headers: api.ListObjectives200ResponseHeaders{ETag: tag}}, err
}

func (s *ObjectiveRoutes) SetObjectives(ctx context.Context, r api.SetObjectivesRequestObject) (api.SetObjectivesResponseObject, error) {
	items := make([]objective.Objective, len(r.Body.Items))
	for i, o := range r.Body.Items {
		items[i] = objective.Objective{
			Selector:            team.Selector{Tags: fleet.TagFilter(wire.Value(o.Selector.Tags)), InstanceIDs: wire.Value(o.Selector.InstanceIds)},
			AvailabilityPercent: o.AvailabilityPercent, LatencyMs: o.LatencyMs, Window: o.Window,
		}
	}
	var seen []string
	if r.Params.IfMatch != nil {
		seen = wire.StatesSeen(*r.Params.IfMatch)
	}
	mark, err := s.Commands.SetObjectives(ctx, wire.Actor(ctx), items, seen)
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	shown, tag, err := s.list(ctx)
	return api.SetObjectives200JSONResponse{Body: shown, Headers: api.SetObjectives200ResponseHeaders{ETag: tag}}, err
}

// list are the objectives that the caller sees, and the ETag of all.
func (s *ObjectiveRoutes) list(ctx context.Context) (shown api.ObjectiveList, tag string, err error) {
	caller := wire.Caller(ctx)
	row, err := objectives.Current(ctx, s.DB, caller.Organization.ID)
	if err != nil {
		return shown, "", err
	}
	var theirs map[uuid.UUID]fleet.Tags
	if caller.World != nil {
		if theirs, err = s.Fleet.TagsOf(ctx, caller.Organization.ID, caller.World.Instances()); err != nil {
			return shown, "", err
		}
	}
	shown.Items = []api.Objective{}
	for _, o := range row.Items {
		if caller.World == nil || about(o, theirs) {
			shown.Items = append(shown.Items, showObjective(ctx, o))
		}
	}
	if !row.Holds.IsZero() {
		shown.Since = wire.UTC(&row.Holds)
	}
	return shown, wire.StateTag(row), nil
}

// about says whether an objective selects one of some servers.
func about(o objective.Objective, servers map[uuid.UUID]fleet.Tags) bool {
	for id, tags := range servers {
		if o.Matches(id, tags) {
			return true
		}
	}
	return false
}

func showObjective(ctx context.Context, o objective.Objective) api.Objective {
	ids := []uuid.UUID{}
	for _, id := range o.Selector.InstanceIDs {
		if wire.Sees(ctx, id) {
			ids = append(ids, id)
		}
	}
	tags := map[string][]string{}
	for key, values := range o.Selector.Tags {
		tags[key] = values
	}
	return api.Objective{
		Selector: api.MaintenanceSelector{Tags: &tags, InstanceIds: &ids}, AvailabilityPercent: o.AvailabilityPercent, LatencyMs: o.LatencyMs, Window: o.Window,
	}
}
