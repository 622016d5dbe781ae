package commands

import (
	"context"
	_ "embed" // the statement
	"fmt"

	"github.com/google/uuid"

	"muster/domain/fleet"
)

//go:embed databases_of.sql
var databasesOf string

// DatabasesOf returns the ids of an instance's databases by external id, as the
// write side has them; what a collector found bears its name. A foreign instance has
// none, like an unknown one.
func (s *Service) DatabasesOf(ctx context.Context, organization, instance uuid.UUID) (map[string]uuid.UUID, error) {
	var rows []struct {
		ExternalID string    `db:"external_id"`
		ID         uuid.UUID `db:"stream_id"`
	}
	if err := s.DB.SelectContext(ctx, &rows, databasesOf, organization, instance, fleet.DatabaseStream); err != nil {
		return nil, fmt.Errorf("read the databases of instance %s: %w", instance, err)
	}
	ids := make(map[string]uuid.UUID, len(rows))
	for _, row := range rows {
		ids[row.ExternalID] = row.ID
	}
	return ids, nil
}
