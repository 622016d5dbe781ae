package fleet

import (
	"context"
	_ "embed" // the statement
	"time"

	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/internal/statement"
)

// Active tells whether an instance is to be assessed: false for inactive,
// removed, unknown and foreign ones alike.
func (r *Reader) Active(ctx context.Context, organization, instance uuid.UUID) (bool, error) {
	i, ok, err := r.Instance(ctx, organization, instance)
	return ok && i.Active, err
}

//go:embed sql/active_among.sql
var activeAmong string

// ActiveAmong is Active for many at once, of any organizations: instances[i] is
// asked for in organizations[i]. It returns those that are active.
func (r *Reader) ActiveAmong(ctx context.Context, organizations, instances []uuid.UUID) (map[uuid.UUID]bool, error) {
	ids, err := statement.All[uuid.UUID](ctx, r.db, "read which instances are active", activeAmong, organizations, instances)
	active := make(map[uuid.UUID]bool, len(ids))
	for _, id := range ids {
		active[id] = true
	}
	return active, err
}

// InstancesOn are the instances that are registered as running on hosts, in exactly
// these letters, by host and then by id. A host without any is missing.
func (r *Reader) InstancesOn(ctx context.Context, organization uuid.UUID, hosts []string) (map[string][]uuid.UUID, error) {
	type hosted struct {
		Host string    `db:"host"`
		ID   uuid.UUID `db:"id"`
	}
	rows, err := statement.All[hosted](ctx, r.db, "find the instances on hosts", `SELECT host, id FROM fleet_v1.instances
WHERE organization_id = $1 AND host = ANY ($2) AND host <> '' ORDER BY host, id`, organization, hosts)
	on := make(map[string][]uuid.UUID)
	for _, row := range rows {
		on[row.Host] = append(on[row.Host], row.ID)
	}
	return on, err
}

// Keyed finds instances by their external ids, in exactly these letters, in no order.
// How many databases they have is not looked up.
func (r *Reader) Keyed(ctx context.Context, organization uuid.UUID, externalIDs []string) ([]Instance, error) {
	return r.instances(ctx, "find instances by external id", `SELECT id, organization_id, external_id, name, engine, version, host, active, created_at
FROM fleet_v1.instances WHERE organization_id = $1 AND external_id = ANY ($2)`, organization, externalIDs)
}

// DatabasesKeyed finds databases by instance and external id, in exactly these
// letters, in no order: externalIDs[i] is asked for on instances[i].
func (r *Reader) DatabasesKeyed(ctx context.Context, organization uuid.UUID, instances []uuid.UUID, externalIDs []string) ([]Database, error) {
	return r.databases(ctx, "find databases by external id", `SELECT id, instance_id, external_id, name, created_at FROM fleet_v1.databases
WHERE organization_id = $1 AND instance_id = ANY ($2) AND (instance_id, external_id) IN (SELECT * FROM unnest($2::uuid[], $3::text[]))`,
		organization, instances, externalIDs)
}

// MonitoringStartedIn is when the earliest instance in scope was registered,
// inactive ones too; nil where there is none.
func (r *Reader) MonitoringStartedIn(ctx context.Context, organization uuid.UUID, scope domain.Scope) (*time.Time, error) {
	query, args := scoped(`SELECT min(created_at) FROM fleet_v1.instances WHERE organization_id = $1`, "id", organization, scope)
	at, err := statement.One[*time.Time](ctx, r.db, "read when monitoring started", query, args...)
	if at != nil {
		*at = at.UTC()
	}
	return at, err
}
