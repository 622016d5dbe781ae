package serverfacts

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/accounts"
	"muster/internal/assessment"
	"muster/internal/report/snapshot"
	projected "muster/projections/fleet"
)

// Source is where the facts are read. Backups and sizes need neither Facts nor Measurements.
type Source struct {
	DB           *sqlx.DB
	Accounts     *accounts.Store
	Fleet        *projected.Reader
	Facts        *assessment.Store
	Measurements Measurements
}

// Server is one about which facts are asked.
type Server struct {
	ID        uuid.UUID
	Tags      fleet.Tags
	Databases map[uuid.UUID]projected.Database // that it has now
}

// Servers are those with these ids, as the fleet has them.
func (s Source) Servers(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) ([]Server, error) {
	tags, err := s.Fleet.TagsOf(ctx, organization, ids)
	if err != nil {
		return nil, err
	}
	databases, err := s.Fleet.DatabasesOf(ctx, organization, ids)
	if err != nil {
		return nil, err
	}
	servers := make([]Server, len(ids))
	for i, id := range ids {
		servers[i] = Server{ID: id, Tags: tags[id], Databases: make(map[uuid.UUID]projected.Database, len(databases[id]))}
		for _, d := range databases[id] {
			servers[i].Databases[d.ID] = d
		}
	}
	return servers, nil
}

// scopeOf are these servers alone.
func scopeOf(servers []Server) fleet.Scope {
	scope := fleet.Scope{Filtered: true, Instances: make([]uuid.UUID, len(servers))}
	for i, s := range servers {
		scope.Instances[i] = s.ID
	}
	return scope
}

// Capping are the facts about servers at a time that cap their scores: backups and room.
func (s Source) Capping(ctx context.Context, organization uuid.UUID, instances []snapshot.Instance, at time.Time) (map[uuid.UUID]*snapshot.Server, error) {
	ids, all := make([]uuid.UUID, len(instances)), make(map[uuid.UUID]*snapshot.Server, len(instances))
	for i, in := range instances {
		ids[i], all[in.ID] = in.ID, &snapshot.Server{}
	}
	servers, err := s.Servers(ctx, organization, ids)
	if err != nil {
		return nil, err
	}
	backups, err := s.Backups(ctx, organization, servers, at)
	if err != nil {
		return nil, err
	}
	for i := range instances {
		of := backups[instances[i].ID]
		all[instances[i].ID].Backup, all[instances[i].ID].Backups = of.last(), of.counts(&instances[i])
	}
	return all, s.addRoom(ctx, organization, instances, at, all)
}
