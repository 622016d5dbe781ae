package commands

import (
	"context"
	_ "embed" // the statement
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"muster/domain/fleet"
)

//go:embed sql/find_databases.sql
var findDatabases string

// alertPlace is where an alert is: uuid.Nil where nothing was said, or nothing
// found.
type alertPlace struct{ instance, database uuid.UUID }

// findPlaces finds where each item is, by the keys of the fleet: a read model may
// lag behind what the same sender registered a moment ago. The fleet is not
// locked; what is removed just now may get an alert, as if that had come before.
func (s *Service) findPlaces(ctx context.Context, organization uuid.UUID, items []AlertItem) ([]alertPlace, error) {
	places := make([]alertPlace, len(items))
	var names, alone []string
	for _, item := range items {
		switch {
		case item.Instance != nil:
			names = append(names, *item.Instance)
		case item.Database != nil:
			alone = append(alone, *item.Database)
		}
	}
	instances, err := s.findFleet(ctx, organization, fleet.InstanceStream, names)
	if err != nil {
		return nil, err
	}
	var keys []string
	for i, item := range items {
		if item.Instance == nil {
			continue
		}
		places[i].instance = instances[*item.Instance]
		if item.Database != nil {
			keys = append(keys, databaseKey(places[i].instance, *item.Database))
		}
	}
	databases, err := s.findFleet(ctx, organization, fleet.DatabaseStream, keys)
	if err != nil {
		return nil, err
	}
	unique, err := s.findDatabasesAlone(ctx, organization, alone)
	if err != nil {
		return nil, err
	}
	for i, item := range items {
		switch {
		case item.Database == nil:
		case item.Instance == nil:
			places[i] = unique[*item.Database]
		default:
			places[i].database = databases[databaseKey(places[i].instance, *item.Database)]
		}
	}
	return places, nil
}

// findFleet returns the ids of what is there under keys, and not removed.
func (s *Service) findFleet(ctx context.Context, organization uuid.UUID, streamType string, keys []string) (map[string]uuid.UUID, error) {
	known, err := s.Events.FindKeys(ctx, s.DB, organization, streamType, possibleKeys(keys))
	if err != nil {
		return nil, fmt.Errorf("find where alerts are: %w", err)
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
// organization.
func (s *Service) findDatabasesAlone(ctx context.Context, organization uuid.UUID, names []string) (map[string]alertPlace, error) {
	unique := make(map[string]alertPlace)
	if names = possibleKeys(names); len(names) == 0 {
		return unique, nil
	}
	var rows []struct {
		ExternalID string    `db:"external_id"`
		Instance   uuid.UUID `db:"instance_id"`
		Database   uuid.UUID `db:"stream_id"`
	}
	if err := s.DB.SelectContext(ctx, &rows, findDatabases, organization, fleet.DatabaseStream, names); err != nil {
		return nil, fmt.Errorf("find databases by name: %w", err)
	}
	for _, r := range rows {
		unique[r.ExternalID] = alertPlace{instance: r.Instance, database: r.Database}
	}
	return unique, nil
}

// possibleKeys leaves out what repeats and what PostgreSQL cannot hold.
func possibleKeys(keys []string) []string {
	slices.Sort(keys)
	keys = slices.Compact(keys)
	return slices.DeleteFunc(keys, func(k string) bool { return strings.ContainsRune(k, 0) })
}
