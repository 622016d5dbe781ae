package serverfacts

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements/replication"
	"muster/internal/report/snapshot"
)

// Of returns the facts of a server at a time, as a scorecard has them.
func (s Source) Of(ctx context.Context, organization uuid.UUID, in snapshot.Instance, at time.Time) (*snapshot.Server, error) {
	all, err := s.Capping(ctx, organization, []snapshot.Instance{in}, at)
	if err != nil {
		return nil, err
	}
	facts := all[in.ID]
	if err := s.addReplication(ctx, organization, in.ID, at, facts); err != nil {
		return nil, err
	}
	return facts, s.addGrowth(ctx, organization, in.ID, facts)
}

// addReplication adds the role, and whether everything follows.
func (s Source) addReplication(ctx context.Context, organization, instance uuid.UUID, at time.Time, facts *snapshot.Server) error {
	states, err := replication.Related(ctx, s.DB, organization, fleet.Scope{Filtered: true, Instances: []uuid.UUID{instance}}, instance)
	if err != nil || len(states) == 0 {
		return err
	}
	facts.Role = string(states[0].Role)
	if at.Sub(states[0].At) > replication.Fresh {
		return nil
	}
	stand, err := replication.Stand(ctx, s.DB, organization, states[:1])
	if err != nil || len(stand) == 0 {
		return err
	}
	of := stand[0]
	facts.Replication = &snapshot.Replication{Broken: of.Broken, First: of.First, Why: of.Why, LagSeconds: of.Lag, Laggard: of.Laggard}
	return nil
}

// addGrowth adds the size that the databases had.
func (s Source) addGrowth(ctx context.Context, organization, instance uuid.UUID, facts *snapshot.Server) error {
	now, before, err := s.Facts.DatabaseSizes(ctx, organization, instance)
	for name, size := range now.Bytes { // a sum of whole numbers: the order does not show
		if was, known := before.Bytes[name]; known {
			if facts.Before == nil {
				facts.Before = &snapshot.SizeBefore{At: before.At}
			}
			facts.Before.Change += size - was
		}
	}
	return err
}
