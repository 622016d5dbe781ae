package fleet

import (
	"context"
	_ "embed" // the query
	"encoding/json"
	"maps"
	"slices"

	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/domain/team"
	"muster/internal/postgres/statement"
)

//go:embed sql/matching.sql
var matching string

// Matching are the instances of an organization that one of the selectors matches, with their tags.
func (r *Reader) Matching(ctx context.Context, organization uuid.UUID, selectors ...team.Selector) (map[uuid.UUID]domain.Tags, error) {
	if len(selectors) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(selectors)
	if err != nil {
		return nil, err
	}
	return r.tagged(ctx, "match selectors with instances", matching, organization, string(text))
}

// World is what somebody sees who belongs to teams with the selectors in, and may act on what those
// of acting match.
func (r *Reader) World(ctx context.Context, organization uuid.UUID, in, acting []team.Selector) (team.World, error) {
	sees, err := r.Matching(ctx, organization, in...)
	if err != nil {
		return nil, err
	}
	world := make(team.World, len(sees))
	for id, tags := range sees {
		world[id] = team.Owner(acting, id, tags) >= 0
	}
	return world, nil
}

// TagsOf are the tags of those instances that exist in the organization.
func (r *Reader) TagsOf(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]domain.Tags, error) {
	return r.tagged(ctx, "read the tags of instances", `SELECT id, tags FROM fleet_v3.instances
		WHERE organization_id = $1 AND id = ANY ($2)`, organization, statement.IDs(ids))
}

// SelectedNames are the names of the active instances that a selector matches.
func (r *Reader) SelectedNames(ctx context.Context, organization uuid.UUID, selector team.Selector) (map[uuid.UUID]string, error) {
	selected, err := r.Matching(ctx, organization, selector)
	if err != nil || len(selected) == 0 {
		return nil, err
	}
	return r.ActiveNames(ctx, organization, slices.Collect(maps.Keys(selected)))
}

func (r *Reader) tagged(ctx context.Context, what, query string, args ...any) (map[uuid.UUID]domain.Tags, error) {
	rows, err := statement.All[struct {
		ID   uuid.UUID `db:"id"`
		Tags Tags      `db:"tags"`
	}](ctx, r.db, what, query, args...)
	tags := make(map[uuid.UUID]domain.Tags, len(rows))
	for _, row := range rows {
		tags[row.ID] = domain.Tags(row.Tags)
	}
	return tags, err
}
