package assessment

import (
	"context"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/postgres/statement"
	"muster/internal/servers"
)

// Decline keeps what an organization will not grant on an instance, in the place of what
// it would not before. It runs on q, beside the event that says so.
func (s *Store) Decline(ctx context.Context, q sqlx.ExecerContext, organization, instance uuid.UUID, objects []string) error {
	if len(objects) == 0 {
		return statement.Exec(ctx, q, "forget what is declined on instance "+instance.String(),
			`DELETE FROM declined_grants WHERE organization_id = $1 AND instance_id = $2`, organization, instance)
	}
	return statement.Exec(ctx, q, "keep what is declined on instance "+instance.String(), `INSERT INTO declined_grants (organization_id, instance_id, objects)
		VALUES ($1, $2, $3) ON CONFLICT (instance_id) DO UPDATE SET objects = excluded.objects
		WHERE declined_grants.organization_id = excluded.organization_id`, organization, instance, objects)
}

// Declined are the objects of grants that an organization will not give on some instances.
func (s *Store) Declined(ctx context.Context, organization uuid.UUID, instances []uuid.UUID) (map[uuid.UUID][]string, error) {
	rows, err := statement.All[struct {
		Instance uuid.UUID `db:"instance_id"`
		Object   string    `db:"object"`
	}](ctx, s.db, "read what is declined", `SELECT instance_id, object FROM declined_grants, unnest(objects) WITH ORDINALITY AS o (object, nth)
		WHERE organization_id = $1 AND instance_id = ANY ($2) ORDER BY instance_id, nth`, organization, statement.IDs(instances))
	declined := make(map[uuid.UUID][]string)
	for _, row := range rows {
		declined[row.Instance] = append(declined[row.Instance], row.Object)
	}
	return declined, err
}

// At finds the PostgreSQL server of an organization whose connection goes to host:port.
// It opens every connection string of the organization, for they say where they lead to.
func (s *Store) At(ctx context.Context, organization uuid.UUID, address string) (instance uuid.UUID, ok bool, err error) {
	rows, err := statement.All[struct {
		Instance uuid.UUID `db:"instance_id"`
		Sealed   []byte    `db:"sealed_dsn"`
	}](ctx, s.db, "list the servers of PostgreSQL", `SELECT instance_id, sealed_dsn FROM assessment_targets
		WHERE organization_id = $1 AND engine = $2 ORDER BY instance_id`, organization, string(fleet.PostgreSQL))
	if err != nil {
		return uuid.Nil, false, err
	}
	for _, row := range rows {
		dsn, err := s.seal.Open(row.Sealed, sealContext(organization, row.Instance))
		if err != nil {
			continue // it does not lead there
		}
		if target, err := servers.Parse(fleet.PostgreSQL, string(dsn)); err == nil && target.Address() == address {
			return row.Instance, true, nil
		}
	}
	return uuid.Nil, false, nil
}
