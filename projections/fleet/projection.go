package fleet

import (
	"context"
	_ "embed" // the schema and the queries
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/statement"
	"muster/projections"
)

// Name of the projection, and the version of its tables. The queries name the
// version's schema, fleet_v1.
const (
	Name    = "fleet"
	Version = 1
)

var (
	//go:embed sql/schema.sql
	schema string
	//go:embed sql/write_instances.sql
	writeInstances string
	//go:embed sql/write_databases.sql
	writeDatabases string
)

// Projection returns the projection that Reader reads.
func Projection(decode projections.Decode) projections.Projection {
	p := projection{decode: decode}
	return projections.Projection{
		Name: Name, Version: Version, Logs: []eventstore.Log{eventstore.Fleet}, Schema: schema, Apply: p.apply,
	}
}

type projection struct{ decode projections.Decode }

// page is what a page of events touches, as it is so far.
type page struct {
	instances map[uuid.UUID]*Instance
	databases map[uuid.UUID]*Database
	owners    map[uuid.UUID]uuid.UUID // database to organization
	removed   []uuid.UUID             // instances, and databases, that are gone
}

// apply folds a page in memory and writes what it touched at the end. Of a log
// that is mostly alerts most pages touch nothing.
func (p projection) apply(ctx context.Context, tx projections.Tx, events []eventstore.Event) error {
	ids := make(map[uuid.UUID]bool)
	for _, e := range events {
		if e.StreamType == domain.InstanceStream || e.StreamType == domain.DatabaseStream {
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
		if !ids[e.Stream] { // an alert
			continue
		}
		fact, err := projections.Fact[domain.Event](p.decode, e, "the fleet")
		if err != nil {
			return err
		}
		if err := f.apply(e, fact); err != nil {
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
			ID: e.Stream, InstanceID: fact.InstanceID, ExternalID: fact.ExternalID, Name: fact.Name, CreatedAt: fact.CreatedAt,
		}
		f.owners[e.Stream] = e.OrganizationID
		return nil
	case domain.InstanceRemoved, domain.DatabaseRemoved:
		f.remove(e.Stream)
		return nil
	case domain.DatabaseChanged:
		d := f.databases[e.Stream]
		if d == nil {
			return &projections.UnknownStreamError{Type: e.StreamType, ID: e.Stream}
		}
		d.Name, d.CreatedAt = fact.Name, fact.CreatedAt
		return nil
	}
	i := f.instances[e.Stream]
	if i == nil {
		return &projections.UnknownStreamError{Type: e.StreamType, ID: e.Stream}
	}
	switch fact := fact.(type) {
	case domain.InstanceChanged:
		i.Name, i.Engine, i.Version, i.Host, i.CreatedAt = fact.Name, fact.Engine, fact.Version, fact.Host, fact.CreatedAt
	case domain.InstanceActivated:
		i.Active = true
	case domain.InstanceDeactivated:
		i.Active = false
	}
	return nil
}

// remove takes an instance, with its databases, or a database out.
func (f *page) remove(id uuid.UUID) {
	delete(f.instances, id)
	delete(f.databases, id)
	maps.DeleteFunc(f.databases, func(_ uuid.UUID, d *Database) bool { return d.InstanceID == id })
	f.removed = append(f.removed, id)
}

func load(ctx context.Context, tx projections.Tx, ids []uuid.UUID) (*page, error) {
	f := &page{
		instances: map[uuid.UUID]*Instance{}, databases: map[uuid.UUID]*Database{}, owners: map[uuid.UUID]uuid.UUID{},
	}
	instances, err := tx.QueryContext(ctx, `SELECT id, organization_id, external_id, name, engine, version, host, active,
       created_at FROM instances WHERE id = ANY ($1)`, ids)
	if err != nil {
		return nil, fmt.Errorf("load instances: %w", err)
	}
	defer func() { _ = instances.Close() }()
	for instances.Next() {
		i := &Instance{}
		err := instances.Scan(&i.ID, &i.OrganizationID, &i.ExternalID, &i.Name, &i.Engine, &i.Version, &i.Host, &i.Active, &i.CreatedAt)
		if err != nil {
			return nil, fmt.Errorf("load instances: %w", err)
		}
		f.instances[i.ID] = i
	}
	if err := instances.Err(); err != nil {
		return nil, err
	}
	databases, err := tx.QueryContext(ctx, `SELECT id, organization_id, instance_id, external_id, name, created_at
FROM databases WHERE id = ANY ($1)`, ids)
	if err != nil {
		return nil, fmt.Errorf("load databases: %w", err)
	}
	defer func() { _ = databases.Close() }()
	for databases.Next() {
		d, owner := &Database{}, uuid.Nil
		if err := databases.Scan(&d.ID, &owner, &d.InstanceID, &d.ExternalID, &d.Name, &d.CreatedAt); err != nil {
			return nil, fmt.Errorf("load databases: %w", err)
		}
		f.databases[d.ID], f.owners[d.ID] = d, owner
	}
	return f, databases.Err()
}

// write removes first and then stores what is left, so that a page in which
// something was removed and registered again ends right.
func (f *page) write(ctx context.Context, tx projections.Tx) error {
	if len(f.removed) > 0 {
		for _, statement := range []string{
			`DELETE FROM databases WHERE id = ANY ($1) OR instance_id = ANY ($1)`,
			`DELETE FROM instances WHERE id = ANY ($1)`,
		} {
			if _, err := tx.ExecContext(ctx, statement, f.removed); err != nil {
				return fmt.Errorf("remove from fleet: %w", err)
			}
		}
	}
	if err := f.writeInstances(ctx, tx); err != nil {
		return fmt.Errorf("write instances: %w", err)
	}
	if err := f.writeDatabases(ctx, tx); err != nil {
		return fmt.Errorf("write databases: %w", err)
	}
	return nil
}

func (f *page) writeInstances(ctx context.Context, tx projections.Tx) error {
	if len(f.instances) == 0 {
		return nil
	}
	rows := make([]instanceRow, 0, len(f.instances))
	for _, id := range projections.SortedIDs(f.instances) {
		i := f.instances[id]
		rows = append(rows, instanceRow{
			i.ID, i.OrganizationID, i.ExternalID, i.Name, string(i.Engine), i.Version, i.Host, i.Active, i.CreatedAt,
		})
	}
	_, err := tx.ExecContext(ctx, writeInstances, statement.Columns(rows)...)
	return err
}

// instanceRow is a row of instances, in the order of write_instances.sql.
type instanceRow struct {
	ID, Organization                        [16]byte
	ExternalID, Name, Engine, Version, Host string
	Active                                  bool
	Created                                 time.Time
}

func (f *page) writeDatabases(ctx context.Context, tx projections.Tx) error {
	if len(f.databases) == 0 {
		return nil
	}
	var ids, organizations, instances []uuid.UUID
	var externals, names []string
	var created []time.Time
	for _, id := range projections.SortedIDs(f.databases) {
		d := f.databases[id]
		ids, organizations, instances = append(ids, d.ID), append(organizations, f.owners[id]), append(instances, d.InstanceID)
		externals, names, created = append(externals, d.ExternalID), append(names, d.Name), append(created, d.CreatedAt)
	}
	_, err := tx.ExecContext(ctx, writeDatabases, ids, organizations, instances, externals, names, created)
	return err
}
