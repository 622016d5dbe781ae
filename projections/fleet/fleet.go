package fleet

import (
	"context"
	_ "embed" // the statements
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	domain "muster/domain/fleet"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/instances.sql
	instancesQuery string
	//go:embed sql/count_instances.sql
	countInstancesQuery string
)

// Reader answers from the live generation of the fleet projection. Every query
// carries the organization; removed instances and databases are not in it.
type Reader struct{ db *sqlx.DB }

// NewReader returns a reader on db.
func NewReader(db *sqlx.DB) *Reader { return &Reader{db: db} }

// Instance is one server.
type Instance struct {
	ID             uuid.UUID     `db:"id"`
	OrganizationID uuid.UUID     `db:"organization_id"`
	ExternalID     string        `db:"external_id"`
	Name           string        `db:"name"`
	Engine         domain.Engine `db:"engine"`
	Version        string        `db:"version"`
	Host           string        `db:"host"`
	Active         bool          `db:"active"`
	CreatedAt      time.Time     `db:"created_at"`
	Tags           Tags          `db:"tags"`
	DatabaseCount  int           `db:"database_count"`
}

// Database is one database of an instance, in the order of write_databases.sql.
type Database struct {
	ID             uuid.UUID `db:"id"`
	OrganizationID uuid.UUID `db:"organization_id"`
	InstanceID     uuid.UUID `db:"instance_id"`
	ExternalID     string    `db:"external_id"`
	Name           string    `db:"name"`
	CreatedAt      time.Time `db:"created_at"`
}

// Gone is an instance or a database that was removed, as it was called last, in the order
// of write_gone.sql.
type Gone struct {
	ID             uuid.UUID
	OrganizationID uuid.UUID
	Name           string
	Engine         domain.Engine // empty: it was a database
}

// Tags are those of an instance, kept as JSON.
type Tags domain.Tags

// Scan implements sql.Scanner.
func (t *Tags) Scan(src any) error { return statement.ScanJSON(src, (*domain.Tags)(t)) }

func (t Tags) text() (string, error) {
	if len(t) == 0 {
		return "{}", nil
	}
	text, err := json.Marshal(t)
	return string(text), err
}

// Query selects a page of instances.
type Query struct {
	Organization uuid.UUID
	IDs          []uuid.UUID // empty: all
	Tags         domain.TagFilter
	Engines      []domain.Engine
	Active       *bool
	Search       string // substring of name, host, external id, version or engine, case-insensitive
	Descending   bool   // by name
	Page, Size   int    // 1-based
}

// Instances returns a page by name, then id, and how many there are in all.
func (r *Reader) Instances(ctx context.Context, q Query) ([]Instance, int64, error) {
	engines := make([]string, len(q.Engines))
	for i, e := range q.Engines {
		engines[i] = string(e)
	}
	filter := []any{q.Organization, q.IDs, engines, q.Active, q.Search}
	query, args := withTags(countInstancesQuery, q.Tags, filter...)
	total, err := statement.One[int64](ctx, r.db, "count instances", query, args...)
	if err != nil {
		return nil, 0, err
	}
	query, args = withTags(instancesQuery, q.Tags, append(filter, q.Descending, q.Size, int64(q.Page-1)*int64(q.Size))...)
	instances, err := statement.All[Instance](ctx, r.db, "read instances", query, args...)
	return instances, total, err
}

// Instance returns one; ok is false where this organization has none of that id.
func (r *Reader) Instance(ctx context.Context, organization, id uuid.UUID) (i Instance, ok bool, err error) {
	found, _, err := r.Instances(ctx, Query{Organization: organization, IDs: []uuid.UUID{id}, Page: 1, Size: 1})
	if err != nil || len(found) == 0 {
		return Instance{}, false, err
	}
	return found[0], true, nil
}

const matchingDatabases = ` FROM fleet_v3.databases
WHERE organization_id = $1 AND instance_id = $2 AND ($3 = '' OR position(lower($3) IN lower(name)) > 0)`

// Databases returns a page of an instance's databases by name, then id, and how many there are in all.
func (r *Reader) Databases(ctx context.Context, organization, instance uuid.UUID, search string, page, size int) ([]Database, int64, error) {
	total, err := statement.One[int64](ctx, r.db, "count databases", `SELECT count(*)`+matchingDatabases, organization, instance, search)
	if err != nil {
		return nil, 0, err
	}
	databases, err := statement.All[Database](ctx, r.db, "read databases", `SELECT id, organization_id, instance_id, external_id, name, created_at`+matchingDatabases+`
ORDER BY lower(name) COLLATE "C", id LIMIT $4 OFFSET $5`, organization, instance, search, size, int64(page-1)*int64(size))
	return databases, total, err
}

// DatabasesOf returns all databases of some instances, those of each by name, then id.
func (r *Reader) DatabasesOf(ctx context.Context, organization uuid.UUID, instances []uuid.UUID) (map[uuid.UUID][]Database, error) {
	rows, err := statement.All[Database](ctx, r.db, fmt.Sprintf("read the databases of %d instances", len(instances)),
		`SELECT id, organization_id, instance_id, external_id, name, created_at FROM fleet_v3.databases
WHERE organization_id = $1 AND instance_id = ANY ($2) ORDER BY lower(name) COLLATE "C", id`, organization, statement.IDs(instances))
	of := make(map[uuid.UUID][]Database, len(instances))
	for _, row := range rows {
		of[row.InstanceID] = append(of[row.InstanceID], row)
	}
	return of, err
}

// InstanceNames returns the names of those ids that exist in the organization.
func (r *Reader) InstanceNames(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	return statement.Map[uuid.UUID, string](ctx, r.db, "read names of instances",
		`SELECT id, name FROM fleet_v3.instances WHERE organization_id = $1 AND id = ANY ($2)`, organization, ids)
}

// Named is what an instance or a database is called, or was when it was removed.
type Named struct {
	ID      uuid.UUID
	Name    string
	Engine  domain.Engine // empty: it is a database
	Removed bool
}

//go:embed sql/names.sql
var names string

// Names returns what instances and databases of the organization are called, removed ones
// too. Foreign and unknown ids are missing.
func (r *Reader) Names(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]Named, error) {
	rows, err := statement.All[Named](ctx, r.db, fmt.Sprintf("read %d names", len(ids)), names, organization, statement.IDs(ids))
	named := make(map[uuid.UUID]Named, len(rows))
	for _, row := range rows {
		named[row.ID] = row
	}
	return named, err
}

// Registered is when an instance was registered.
type Registered struct {
	ID uuid.UUID `db:"id"`
	At time.Time `db:"created_at"`
}

// RegisteredIn are the instances in scope that were registered from a time to another, the newest first and at most
// limit. Removed ones are not among them.
func (r *Reader) RegisteredIn(ctx context.Context, organization uuid.UUID, scope domain.Scope, from, to time.Time, limit int) ([]Registered, error) {
	return statement.All[Registered](ctx, r.db, "read which instances were registered", `SELECT id, created_at FROM fleet_v3.instances
		WHERE organization_id = $1 AND created_at >= $2 AND created_at < $3 AND (NOT $4 OR id = ANY ($5)) ORDER BY created_at DESC, id LIMIT $6`,
		organization, from, to, scope.Filtered, statement.IDs(scope.Instances), limit)
}

// Ever are the ids of the instances of an organization, those that were removed among them.
func (r *Reader) Ever(ctx context.Context, organization uuid.UUID) ([]uuid.UUID, error) {
	return statement.All[uuid.UUID](ctx, r.db, "list the instances that there ever were", `SELECT id FROM fleet_v3.instances WHERE organization_id = $1
		UNION ALL SELECT id FROM fleet_v3.gone WHERE organization_id = $1 AND engine <> ''`, organization)
}

// DatabaseOn returns the name of a database if it is on that instance of the organization.
func (r *Reader) DatabaseOn(ctx context.Context, organization, instance, database uuid.UUID) (name string, ok bool, err error) {
	return statement.Find[string](ctx, r.db, "read name of database",
		`SELECT name FROM fleet_v3.databases WHERE organization_id = $1 AND instance_id = $2 AND id = $3`,
		organization, instance, database)
}

// Activity says of the instances in a scope whether they are active: those of these engines, where
// any are named.
func (r *Reader) Activity(ctx context.Context, organization uuid.UUID, scope domain.Scope, engines []domain.Engine) (map[uuid.UUID]bool, error) {
	return statement.Map[uuid.UUID, bool](ctx, r.db, "read which instances of an organization are active",
		`SELECT id, active FROM fleet_v3.instances
		WHERE organization_id = $1 AND (NOT $2 OR id = ANY ($3)) AND (coalesce(cardinality($4::text[]), 0) = 0 OR engine = ANY ($4))`,
		organization, scope.Filtered, statement.IDs(scope.Instances), engines)
}

// ActiveNames returns the names of the active instances, of those ids where there are any.
func (r *Reader) ActiveNames(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	return statement.Map[uuid.UUID, string](ctx, r.db, "read names of active instances",
		`SELECT id, name FROM fleet_v3.instances
		WHERE organization_id = $1 AND active AND (coalesce(cardinality($2::uuid[]), 0) = 0 OR id = ANY ($2))`, organization, ids)
}

// DatabaseNames returns the names of those databases that exist in the organization.
func (r *Reader) DatabaseNames(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	return statement.Map[uuid.UUID, string](ctx, r.db, "read names of databases",
		`SELECT id, name FROM fleet_v3.databases WHERE organization_id = $1 AND id = ANY ($2)`, organization, ids)
}

// Database returns one; ok is false where this organization has none of that id.
func (r *Reader) Database(ctx context.Context, organization, id uuid.UUID) (d Database, ok bool, err error) {
	return statement.Find[Database](ctx, r.db, "read a database",
		`SELECT id, organization_id, instance_id, external_id, name, created_at FROM fleet_v3.databases WHERE organization_id = $1 AND id = $2`, organization, id)
}

// Active reports whether an instance has to be assessed: false for inactive, removed, unknown
// and foreign ones alike.
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

// InstancesOn are the instances that are registered as running on hosts, whatever the
// spelling of either (domain.HostKey), by host and then by id. A host without any is
// missing.
func (r *Reader) InstancesOn(ctx context.Context, organization uuid.UUID, hosts []string) (map[string][]uuid.UUID, error) {
	return r.onHosts(ctx, organization, hosts, (*domain.Hosts).Find)
}

// InstancesNear returns the instances on hosts of which one side has the full name and the
// other its first label, if only one host begins with that label.
func (r *Reader) InstancesNear(ctx context.Context, organization uuid.UUID, hosts []string) (map[string][]uuid.UUID, error) {
	return r.onHosts(ctx, organization, hosts, (*domain.Hosts).FindNear)
}

func (r *Reader) onHosts(ctx context.Context, organization uuid.UUID, hosts []string, find func(*domain.Hosts, string) []uuid.UUID) (map[string][]uuid.UUID, error) {
	type hosted struct {
		Host string    `db:"host"`
		ID   uuid.UUID `db:"id"`
	}
	rows, err := statement.All[hosted](ctx, r.db, "find the instances on hosts", `SELECT host, id FROM fleet_v3.instances
WHERE organization_id = $1 AND host_lookup(host) = ANY ($2) AND host <> '' ORDER BY id`, organization, lookups(hosts))
	if err != nil {
		return nil, err
	}
	var known domain.Hosts
	for _, row := range rows {
		known.Add(row.Host, row.ID)
	}
	on := make(map[string][]uuid.UUID)
	for _, host := range hosts {
		if found := find(&known, host); len(found) > 0 {
			on[host] = found
		}
	}
	return on, nil
}

// lookups are the keys of hosts in the index of instances.
func lookups(hosts []string) []string {
	keys := make([]string, 0, 2*len(hosts))
	for _, host := range hosts {
		keys = append(keys, domain.HostLookups(host)...)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

//go:embed sql/called_instances.sql
var calledInstances string

// Called finds the instances whose id, external id, name or host is one of these: the possible
// labels of an alert. Hosts are found in any spelling, also those that only begin alike; the
// others must match exactly. Each instance is returned once, by id, and its fields show which
// reference meant it.
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
	return statement.All[domain.CalledInstance](ctx, r.db, "find instances by what they are called", calledInstances, organization, ids, texts, lookups(texts))
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
	return statement.Map[uuid.UUID, domain.Engine](ctx, r.db, "read the engines of instances",
		`SELECT id, engine FROM fleet_v3.instances WHERE organization_id = $1 AND id = ANY ($2)`, organization, instances)
}

// HostsOf returns the hosts of those instances that are there, as they were registered.
func (r *Reader) HostsOf(ctx context.Context, organization uuid.UUID, instances []uuid.UUID) (map[uuid.UUID]string, error) {
	return statement.Map[uuid.UUID, string](ctx, r.db, "read the hosts of instances",
		`SELECT id, host FROM fleet_v3.instances WHERE organization_id = $1 AND id = ANY ($2)`, organization, instances)
}

// MonitoringStartedIn is the registration time of the earliest instance in scope, including
// inactive ones; nil if there is none.
func (r *Reader) MonitoringStartedIn(ctx context.Context, organization uuid.UUID, scope domain.Scope) (*time.Time, error) {
	query, args := scoped(`SELECT min(created_at) FROM fleet_v3.instances WHERE organization_id = $1`, "id", organization, scope)
	return statement.One[*time.Time](ctx, r.db, "read when monitoring started", query, args...)
}
