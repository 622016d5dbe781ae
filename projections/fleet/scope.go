package fleet

import (
	"context"
	_ "embed" // the queries
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/postgres/statement"
	"muster/projections"
)

var (
	//go:embed sql/resolve_scope.sql
	resolveScope string
	//go:embed sql/resolve_tags.sql
	resolveTags string
	//go:embed sql/count_organization.sql
	countOrganization string
	//go:embed sql/count_scope.sql
	countScope string
)

// Scope resolves a filter, by ids or by names and by tags, to the instances of the organization
// that match both. Without a filter it is the whole organization. A filter that matches nothing
// is an empty scope. A name that several instances have means all of them; unknown, foreign and
// removed ones are left out.
func (r *Reader) Scope(ctx context.Context, organization uuid.UUID, ids []uuid.UUID, names []string, tags domain.TagFilter) (domain.Scope, error) {
	switch {
	case len(tags) > 0:
		query, args := withTags(resolveTags, tags, organization, ids, names)
		instances, err := statement.All[uuid.UUID](ctx, r.db, "resolve filter by tags to instances", query, args...)
		return domain.Scope{Filtered: true, Instances: instances}, err
	case len(ids) == 0 && len(names) == 0:
		return domain.Scope{}, nil
	}
	instances, err := statement.All[uuid.UUID](ctx, r.db, "resolve filter to instances", resolveScope, organization, ids, names)
	return domain.Scope{Filtered: true, Instances: instances}, err
}

// TagValue is a value of a tag, and how many instances have it.
type TagValue struct {
	Key, Value string
	Instances  int64
}

//go:embed sql/tag_values.sql
var tagValues string

// TagValues are the tags of the instances in scope, by key and value.
func (r *Reader) TagValues(ctx context.Context, organization uuid.UUID, scope domain.Scope) ([]TagValue, error) {
	within, args := "", []any{organization}
	if scope.Filtered { // hashed: to compare each of 1,000 instances with 200 ids took 3 ms
		within, args = " AND id IN (SELECT unnest($2::uuid[]))", append(args, statement.IDs(scope.Instances))
	}
	return statement.All[TagValue](ctx, r.db, "read the tags of an organization", strings.Replace(tagValues, "{{scope}}", within, 1), args...)
}

// Counts are how many instances and databases there are, and how many of those
// were there at an earlier time.
type Counts struct {
	Instances     int64 `db:"instances"`
	InstancesThen int64 `db:"instances_then"`
	Databases     int64 `db:"databases"`
	DatabasesThen int64 `db:"databases_then"`
}

// Counts counts what is in scope now, and which of it was created by then.
func (r *Reader) Counts(ctx context.Context, organization uuid.UUID, scope domain.Scope, then time.Time) (Counts, error) {
	query, args := countOrganization, []any{organization, then}
	if scope.Filtered {
		query, args = countScope, append(args, scope.Instances)
	}
	return statement.One[Counts](ctx, r.db, "count instances and databases", query, args...)
}

// scoped limits a query about an organization to the instances in scope, whose ids are in a
// column.
func scoped(query, column string, organization uuid.UUID, scope domain.Scope) (string, []any) {
	if !scope.Filtered {
		return query, []any{organization}
	}
	return query + ` AND ` + column + ` = ANY ($2)`, []any{organization, scope.Instances}
}

// DatabasesIn are the ids of the databases in scope, in no order. 6,000 of them among
// 30,000 take 2 to 3 ms, one bitmap of databases_created; with a filter of 200
// instances half of that.
func (r *Reader) DatabasesIn(ctx context.Context, organization uuid.UUID, scope domain.Scope) ([]uuid.UUID, error) {
	query, args := scoped(`SELECT id FROM fleet_v3.databases WHERE organization_id = $1`, "instance_id", organization, scope)
	return statement.All[uuid.UUID](ctx, r.db, "read the databases in scope", query, args...)
}

// HostsIn are the hosts of the instances in scope as they were registered, each
// once, in no order. Many an instance has none.
func (r *Reader) HostsIn(ctx context.Context, organization uuid.UUID, scope domain.Scope) ([]string, error) {
	query, args := scoped(`SELECT DISTINCT host FROM fleet_v3.instances WHERE organization_id = $1 AND host <> ''`, "id", organization, scope)
	return statement.All[string](ctx, r.db, "read the hosts in scope", query, args...)
}

// AsOf counts the instances and databases of an organization as the log had recorded them
// before at. Unlike Counts it needs no projection, and a time that was written into a
// registration later changes nothing: it reads what was known then. It reads the organization's
// part of the fleet's log, a page at a time, and holds a number for each instance.
func AsOf(ctx context.Context, store *eventstore.Store, decode projections.Decode, organization uuid.UUID, at time.Time) (instances, databases int64, err error) {
	r := roll{live: map[uuid.UUID]bool{}, databases: map[uuid.UUID]int64{}}
	filter := eventstore.Filter{Organization: organization, RecordedTo: at, Types: []string{
		domain.Name(domain.InstanceRegistered{}), domain.Name(domain.InstanceRemoved{}),
		domain.Name(domain.DatabaseRegistered{}), domain.Name(domain.DatabaseRemoved{}),
	}}
	for e, err := range store.Read(ctx, eventstore.Fleet, filter) {
		if err != nil {
			return 0, 0, err
		}
		fact, err := decode(e)
		if err != nil {
			return 0, 0, fmt.Errorf("event %d: %w", e.Position, err)
		}
		r.take(e.Stream, fact)
	}
	for id := range r.live {
		databases += r.databases[id]
	}
	return int64(len(r.live)), databases, nil
}

// roll counts databases by their instance, because they go with it.
type roll struct {
	live      map[uuid.UUID]bool
	databases map[uuid.UUID]int64
}

func (r roll) take(stream uuid.UUID, fact any) {
	switch fact := fact.(type) {
	case domain.InstanceRegistered:
		r.live[stream] = true
	case domain.InstanceRemoved:
		delete(r.live, stream)
		delete(r.databases, stream)
	case domain.DatabaseRegistered:
		r.databases[fact.InstanceID]++
	case domain.DatabaseRemoved:
		r.databases[fact.InstanceID]--
	}
}
