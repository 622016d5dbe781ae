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

//go:embed sql/called_instances.sql
var calledInstances string

// Called finds the instances of which one of these is the id, the external id,
// the name or the host: what a label of an alert may say, in exactly these
// letters. Each comes once, by id; which reference meant it is to be seen from it.
func (r *Reader) Called(ctx context.Context, organization uuid.UUID, references []string) ([]domain.CalledInstance, error) {
	var ids []uuid.UUID
	var texts []string
	for _, reference := range references {
		if reference == "" { // many an instance has no host
			continue
		}
		texts = append(texts, reference)
		if id, err := uuid.Parse(reference); err == nil && id.String() == reference {
			ids = append(ids, id)
		}
	}
	return statement.All[domain.CalledInstance](ctx, r.db, "find instances by what they are called", calledInstances, organization, ids, texts)
}

//go:embed sql/called_databases.sql
var calledDatabases string

// DatabasesCalled finds the databases of instances by name or external id, in
// exactly these letters, by instance, then by id. Without instances it finds none.
func (r *Reader) DatabasesCalled(ctx context.Context, organization uuid.UUID, instances []uuid.UUID, names []string) ([]domain.CalledDatabase, error) {
	return statement.All[domain.CalledDatabase](ctx, r.db, "find databases by what they are called", calledDatabases, organization, instances, names)
}

// Engines returns the engines of those instances that are there.
func (r *Reader) Engines(ctx context.Context, organization uuid.UUID, instances []uuid.UUID) (map[uuid.UUID]domain.Engine, error) {
	type server struct {
		ID     uuid.UUID     `db:"id"`
		Engine domain.Engine `db:"engine"`
	}
	rows, err := statement.All[server](ctx, r.db, "read the engines of instances",
		`SELECT id, engine FROM fleet_v1.instances WHERE organization_id = $1 AND id = ANY ($2)`, organization, instances)
	engines := make(map[uuid.UUID]domain.Engine, len(rows))
	for _, row := range rows {
		engines[row.ID] = row.Engine
	}
	return engines, err
}

// MonitoringStartedIn is when the earliest instance in scope was registered,
// inactive ones too; nil where there is none.
func (r *Reader) MonitoringStartedIn(ctx context.Context, organization uuid.UUID, scope domain.Scope) (*time.Time, error) {
	query, args := scoped(`SELECT min(created_at) FROM fleet_v1.instances WHERE organization_id = $1`, "id", organization, scope)
	return statement.One[*time.Time](ctx, r.db, "read when monitoring started", query, args...)
}
