package fleet

import (
	"context"
	_ "embed" // the schema and the queries
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	domain "muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/postgres/statement"
	"muster/projections"
)

// Name of the projection, and the version of its tables. The queries name the
// version's schema, fleet_v3.
const (
	Name    = "fleet"
	Version = 3
)

var (
	//go:embed sql/schema.sql
	schema string
	//go:embed sql/write_instances.sql
	writeInstances string
	//go:embed sql/write_gone.sql
	writeGone string
	//go:embed sql/write_databases.sql
	writeDatabases string
)

// Projection returns the projection that Reader reads.
func Projection(decode projections.Decode) projections.Projection {
	return projections.Projection{
		Name: Name, Version: Version, Logs: []eventstore.Log{eventstore.Fleet}, Schema: schema,
		Decode: func(e eventstore.Event) (any, error) {
			if e.StreamType != domain.InstanceStream && e.StreamType != domain.DatabaseStream {
				return nil, nil // mostly an alert
			}
			return projections.Fact[domain.Event](decode, e, "the fleet")
		},
		Apply: apply,
	}
}

// page is what a page of events touches, as it is so far.
type page struct {
	instances map[uuid.UUID]*Instance
	databases map[uuid.UUID]*Database
	removed   []uuid.UUID // instances, and databases, that are gone
	gone      []Gone      // how those were called of which a page knows it
}

// apply folds a page in memory and writes what it touched at the end. Of a log
// that is mostly alerts most pages touch nothing.
func apply(ctx context.Context, tx *sqlx.Tx, events []projections.Event) error {
	ids := make(map[uuid.UUID]bool)
	for _, e := range events {
		if e.Fact != nil {
			ids[e.Stream] = true
		}
	}
	if len(ids) == 0 {
		return nil
	}
	f, err := load(ctx, tx, slices.Collect(maps.Keys(ids)))
	if err != nil {
		return err
	}
	for _, e := range events {
		if e.Fact == nil {
			continue
		}
		if err := f.apply(e.Event, e.Fact.(domain.Event)); err != nil {
			return err
		}
	}
	return f.write(ctx, tx)
}

func (f *page) apply(e eventstore.Event, fact domain.Event) error {
	switch fact := fact.(type) {
	case domain.InstanceRegistered:
		f.instances[e.Stream] = &Instance{
			ID: e.Stream, OrganizationID: e.OrganizationID, ExternalID: fact.ExternalID, Name: fact.Name,
			Engine: fact.Engine, Version: fact.Version, Host: fact.Host, Active: fact.Active, CreatedAt: fact.CreatedAt,
		}
		return nil
	case domain.DatabaseRegistered:
		f.databases[e.Stream] = &Database{
			ID: e.Stream, OrganizationID: e.OrganizationID, InstanceID: fact.InstanceID, ExternalID: fact.ExternalID, Name: fact.Name, CreatedAt: fact.CreatedAt,
		}
		return nil
	case domain.InstanceRemoved, domain.DatabaseRemoved:
		f.remove(e.Stream)
		return nil
	case domain.DatabaseChanged:
		d := f.databases[e.Stream]
		if d == nil {
			return projections.UnknownStream(e)
		}
		d.Name, d.CreatedAt = fact.Name, fact.CreatedAt
		return nil
	}
	i := f.instances[e.Stream]
	if i == nil {
		return projections.UnknownStream(e)
	}
	switch fact := fact.(type) {
	case domain.InstanceChanged:
		i.Name, i.Engine, i.Version, i.Host, i.CreatedAt = fact.Name, fact.Engine, fact.Version, fact.Host, fact.CreatedAt
	case domain.InstanceActivated:
		i.Active = true
	case domain.InstanceDeactivated:
		i.Active = false
	case domain.InstanceTagged:
		i.Tags = Tags(domain.Tags(i.Tags).Apply(fact))
	}
	return nil
}

// remove takes an instance, with its databases, or a database out.
func (f *page) remove(id uuid.UUID) {
	if i := f.instances[id]; i != nil {
		f.gone = append(f.gone, Gone{i.ID, i.OrganizationID, i.Name, i.Engine})
	}
	for _, d := range f.databases {
		if d.ID == id || d.InstanceID == id {
			f.gone = append(f.gone, Gone{d.ID, d.OrganizationID, d.Name, ""})
		}
	}
	delete(f.instances, id)
	delete(f.databases, id)
	maps.DeleteFunc(f.databases, func(_ uuid.UUID, d *Database) bool { return d.InstanceID == id })
	f.removed = append(f.removed, id)
}

func load(ctx context.Context, tx *sqlx.Tx, ids []uuid.UUID) (*page, error) {
	f := &page{instances: map[uuid.UUID]*Instance{}, databases: map[uuid.UUID]*Database{}}
	instances, err := statement.All[Instance](ctx, tx, "load instances", `SELECT * FROM instances WHERE id = ANY ($1)`, ids)
	if err != nil {
		return nil, err
	}
	for i := range instances {
		f.instances[instances[i].ID] = &instances[i]
	}
	databases, err := statement.All[Database](ctx, tx, "load databases", `SELECT * FROM databases WHERE id = ANY ($1)`, ids)
	for i := range databases {
		f.databases[databases[i].ID] = &databases[i]
	}
	return f, err
}

// write removes first and then stores what is left, so that a page in which
// something was removed and registered again ends right.
func (f *page) write(ctx context.Context, tx *sqlx.Tx) error {
	if len(f.removed) > 0 {
		for _, query := range []string{
			`INSERT INTO gone (id, organization_id, name, engine)
				SELECT id, organization_id, name, '' FROM databases WHERE instance_id = ANY ($1) ON CONFLICT DO NOTHING`,
			`DELETE FROM databases WHERE id = ANY ($1) OR instance_id = ANY ($1)`,
			`DELETE FROM instances WHERE id = ANY ($1)`,
		} {
			if err := statement.Exec(ctx, tx, "remove from fleet", query, f.removed); err != nil {
				return err
			}
		}
		if err := statement.Exec(ctx, tx, "keep last names", writeGone, statement.Columns(f.gone)...); err != nil {
			return err
		}
	}
	instances := make([]instanceRow, 0, len(f.instances))
	for _, id := range projections.SortedIDs(f.instances) {
		i := f.instances[id]
		tags, err := i.Tags.text()
		if err != nil {
			return err
		}
		instances = append(instances, instanceRow{
			i.ID, i.OrganizationID, i.ExternalID, i.Name, i.Engine, i.Version, i.Host, i.Active, i.CreatedAt, tags,
		})
	}
	if err := statement.Exec(ctx, tx, "write instances", writeInstances, statement.Columns(instances)...); err != nil {
		return err
	}
	databases := make([]Database, 0, len(f.databases))
	for _, id := range projections.SortedIDs(f.databases) {
		databases = append(databases, *f.databases[id])
	}
	return statement.Exec(ctx, tx, "write databases", writeDatabases, statement.Columns(databases)...)
}

// instanceRow is an instance in the order of write_instances.sql.
type instanceRow struct {
	ID, Organization uuid.UUID
	ExternalID, Name string
	Engine           domain.Engine
	Version, Host    string
	Active           bool
	Created          time.Time
	Tags             string // JSON
}
