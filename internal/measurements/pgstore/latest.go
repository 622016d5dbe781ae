package pgstore

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/connections.sql
	sumConnections string
)

// InstancesOn returns the instances on hosts by the newest of their samples that names some.
// Hosts without such a sample, or without known instances, are missing.
func (s *Store) InstancesOn(ctx context.Context, organization uuid.UUID, names []string) (map[string][]uuid.UUID, error) {
	type mapped struct {
		Subject  string
		Instance uuid.UUID
	}
	rows, err := statement.All[mapped](ctx, s.db, fmt.Sprintf("read what runs on %d hosts", len(names)),
		`SELECT subject, unnest(instances) AS instance FROM measured_series WHERE organization_id = $1 AND kind = $2 AND subject = ANY ($3)`,
		organization, codec.Hosts, names)
	if err != nil {
		return nil, err
	}
	on := make(map[string][]uuid.UUID)
	for _, row := range rows {
		on[row.Subject] = append(on[row.Subject], row.Instance)
	}
	return on, nil
}

// Connections is documented at measurements.Store.
func (s *Store) Connections(ctx context.Context, organization uuid.UUID, engine fleet.Engine, databases []uuid.UUID, now time.Time) (measurements.OpenConnections, error) {
	var c measurements.OpenConnections
	var sampled *time.Time
	err := s.db.QueryRowContext(ctx, sumConnections, organization, string(engine), statement.IDs(databases), now).
		Scan(&sampled, &c.Active, &c.Idle, &c.Waiting, &c.IdleInTransaction, &c.Other, &c.Partial)
	if err != nil {
		return measurements.OpenConnections{}, fmt.Errorf("sum the connections of %d databases: %w", len(databases), err)
	}
	if sampled != nil {
		c.SampledAt = sampled.UTC()
	}
	return c, nil
}
