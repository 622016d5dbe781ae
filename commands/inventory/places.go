package inventory

import (
	"context"
	_ "embed" // the statement
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/postgres/statement"
)

//go:embed sql/find_databases.sql
var findDatabases string

// PlaceName is a feed's name for a place, by external ids; nil means no statement. A database
// without an instance has to have a unique name in the organization.
type PlaceName struct{ Instance, Database *string }

// Place is where something is: uuid.Nil where nothing was said, or nothing found.
type Place struct{ Instance, Database uuid.UUID }

// FindPlaces finds what feeds name, in the same order, by the keys of the fleet: a read
// model may lag behind what the same sender registered a moment ago. The fleet is not
// locked; what is removed just now may get an alert, as if that had come before.
func (f *Fleet) FindPlaces(ctx context.Context, organization uuid.UUID, names []PlaceName) ([]Place, error) {
	return f.FindPlacesWithin(ctx, organization, names, nil)
}

// FindPlacesWithin is FindPlaces for a token. For a limited one, the name of a database without an
// instance has to be unique among its own instances, whatever names others use.
func (f *Fleet) FindPlacesWithin(ctx context.Context, organization uuid.UUID, names []PlaceName, limit fleet.Limit) ([]Place, error) {
	places := make([]Place, len(names))
	var keys, alone []string
	for _, n := range names {
		switch {
		case n.Instance != nil:
			keys = append(keys, *n.Instance)
		case n.Database != nil:
			alone = append(alone, *n.Database)
		}
	}
	instances, err := f.findFleet(ctx, organization, fleet.InstanceStream, keys)
	if err != nil {
		return nil, err
	}
	keys = keys[:0]
	for i, n := range names {
		if n.Instance == nil {
			continue
		}
		places[i].Instance = instances[*n.Instance]
		if n.Database != nil {
			keys = append(keys, databaseKey(places[i].Instance, *n.Database))
		}
	}
	databases, err := f.findFleet(ctx, organization, fleet.DatabaseStream, keys)
	if err != nil {
		return nil, err
	}
	unique, err := f.findDatabasesAlone(ctx, organization, alone, limit)
	if err != nil {
		return nil, err
	}
	for i, n := range names {
		switch {
		case n.Database == nil:
		case n.Instance == nil:
			places[i] = unique[*n.Database]
		default:
			places[i].Database = databases[databaseKey(places[i].Instance, *n.Database)]
		}
	}
	return places, nil
}

// findFleet returns the ids of what is there under keys, and not removed.
func (f *Fleet) findFleet(ctx context.Context, organization uuid.UUID, streamType string, keys []string) (map[string]uuid.UUID, error) {
	known, err := f.Events.FindKeys(ctx, f.DB, organization, streamType, possibleKeys(keys))
	if err != nil {
		return nil, fmt.Errorf("find what a feed names: %w", err)
	}
	ids := make(map[string]uuid.UUID, len(known))
	for key, k := range known {
		if present(k.StateDigest) {
			ids[key] = k.Stream
		}
	}
	return ids, nil
}

// findDatabasesAlone returns the databases that are called like no other of the
// organization, or of the instances of a limited token.
func (f *Fleet) findDatabasesAlone(ctx context.Context, organization uuid.UUID, names []string, limit fleet.Limit) (map[string]Place, error) {
	unique := make(map[string]Place)
	if names = possibleKeys(names); len(names) == 0 {
		return unique, nil
	}
	type row struct {
		ExternalID string    `db:"external_id"`
		Instance   uuid.UUID `db:"instance_id"`
		Database   uuid.UUID `db:"stream_id"`
	}
	rows, err := statement.All[row](ctx, f.DB, "find databases by name", findDatabases, organization, fleet.DatabaseStream, names, []uuid.UUID(limit))
	for _, r := range rows {
		unique[r.ExternalID] = Place{Instance: r.Instance, Database: r.Database}
	}
	return unique, err
}

// possibleKeys leaves out what repeats and what PostgreSQL cannot hold.
func possibleKeys(keys []string) []string {
	slices.Sort(keys)
	keys = slices.Compact(keys)
	return slices.DeleteFunc(keys, func(k string) bool { return strings.ContainsRune(k, 0) })
}
