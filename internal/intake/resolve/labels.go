package resolve

import (
	"bytes"
	"slices"
	"strings"

	"github.com/google/uuid"

	"muster/domain/fleet"
)

// Labels are what an agent says of where something belongs. An empty member says
// nothing.
type Labels struct {
	Instance string // muster_instance: an id, an external id or a name
	Address  string // instance, of an alert: a name or a host, perhaps with a port
	Database string // muster_database or datname: a name or an external id
}

// Of are those among the labels of Prometheus.
func Of(labels map[string]string) Labels {
	l := Labels{Instance: labels["muster_instance"], Address: labels["instance"], Database: labels["muster_database"]}
	if l.Database == "" {
		l.Database = labels["datname"]
	}
	return l
}

// references returns the texts to look up: every text that may mean an instance, and every one
// that may mean a database, once.
func references(all []Labels) (instances, databases []string) {
	for _, l := range all {
		instances = append(instances, l.Instance, l.Address, fleet.WithoutPort(l.Address), fleet.HostOf(l.Address))
		databases = append(databases, l.Database)
	}
	return possible(instances), possible(databases)
}

// possible sorts, and leaves out what no database of ours can hold.
func possible(texts []string) []string {
	texts = slices.DeleteFunc(texts, func(s string) bool { return s == "" || strings.ContainsRune(s, 0) })
	slices.Sort(texts)
	return slices.Compact(texts)
}

// Directory is the result of looking up labels: existing instances and databases of one
// organization, by their names. The zero value has none.
type Directory struct {
	ids, externalIDs, names map[string][]uuid.UUID
	hosts                   fleet.Hosts
	databases, databaseKeys map[onInstance]uuid.UUID // by name, by external id
	engines                 map[uuid.UUID]fleet.Engine
}

type onInstance struct {
	instance uuid.UUID
	called   string
}

func newDirectory(instances []fleet.CalledInstance, databases []fleet.CalledDatabase) Directory {
	d := Directory{
		ids: map[string][]uuid.UUID{}, externalIDs: map[string][]uuid.UUID{},
		names:     map[string][]uuid.UUID{},
		databases: map[onInstance]uuid.UUID{}, databaseKeys: map[onInstance]uuid.UUID{},
		engines: make(map[uuid.UUID]fleet.Engine, len(instances)),
	}
	for _, i := range instances {
		d.engines[i.ID] = i.Engine
		d.ids[i.ID.String()] = append(d.ids[i.ID.String()], i.ID)
		d.externalIDs[i.ExternalID] = append(d.externalIDs[i.ExternalID], i.ID)
		d.names[i.Name] = append(d.names[i.Name], i.ID)
		d.hosts.Add(i.Host, i.ID)
	}
	for _, b := range databases {
		d.databases[onInstance{b.InstanceID, b.Name}] = b.ID
		d.databaseKeys[onInstance{b.InstanceID, b.ExternalID}] = b.ID
	}
	return d
}

// Found is where labels lead: uuid.Nil where that is nowhere.
type Found struct {
	Instance, Database uuid.UUID
	Ambiguous          bool // several instances fit, and one of them was taken
}

// Find returns the instance that labels mean for a token, and the database. If several match,
// it is the one that has the database; otherwise one within the token's limit; otherwise the
// one that was registered first, whose place no other can take by a new name.
func (d Directory) Find(l Labels, limit fleet.Limit) Found {
	return d.one(d.candidates(l, nil), l, limit)
}

// FindEngine is Find among the instances of one engine, for measurements: an exporter of
// PostgreSQL says nothing about the SQL Server on the same host. If only an address names the
// instance, and several match, it returns none: otherwise the figures of two servers would
// become one's.
func (d Directory) FindEngine(l Labels, engine fleet.Engine, limit fleet.Limit) Found {
	found := d.one(d.candidates(l, func(id uuid.UUID) bool { return d.engines[id] == engine }), l, limit)
	if found.Ambiguous && l.Instance == "" && !limit.Names(found.Instance) {
		return Found{}
	}
	return found
}

// one chooses among candidates. Ids are in the order of registration (UUID version 7).
func (d Directory) one(candidates []uuid.UUID, l Labels, limit fleet.Limit) Found {
	switch len(candidates) {
	case 0:
		return Found{}
	case 1:
		return Found{Instance: candidates[0], Database: d.database(candidates[0], l.Database)}
	}
	first := func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }
	if having := only(candidates, func(id uuid.UUID) bool { return d.database(id, l.Database) != uuid.Nil }); len(having) > 0 {
		candidates = having
		first = func(a, b uuid.UUID) int { // by the database: one that is added later attracts nothing
			a, b = d.database(a, l.Database), d.database(b, l.Database)
			return bytes.Compare(a[:], b[:])
		}
	}
	ambiguous := len(candidates) > 1
	if own := only(candidates, limit.Names); len(own) > 0 {
		candidates = own
	}
	id := slices.MinFunc(candidates, first)
	return Found{Instance: id, Database: d.database(id, l.Database), Ambiguous: ambiguous}
}

// candidates are the instances of the best kind of match that finds any. The harder a kind is
// to change, the earlier it is tried. A label that was made for Muster takes precedence: with
// it, Prometheus' name for the instance is ignored. An address means hosts before names;
// otherwise an instance could take another's alerts by being renamed. Names tell those on one
// host apart. of says which instances count; nil: all do.
func (d Directory) candidates(l Labels, of func(uuid.UUID) bool) []uuid.UUID {
	if l.Instance != "" {
		return best(of, d.externalIDs[l.Instance], d.ids[l.Instance], d.names[l.Instance])
	}
	names := [][]uuid.UUID{d.names[l.Address], d.names[fleet.WithoutPort(l.Address)], d.names[fleet.HostOf(l.Address)]}
	found := best(of, d.hosts.Find(l.Address), d.hosts.FindNear(l.Address))
	switch len(found) {
	case 0:
		return best(of, names...)
	case 1:
		return found
	}
	for _, called := range names {
		if both := only(found, func(id uuid.UUID) bool { return slices.Contains(called, id) }); len(both) > 0 {
			return both
		}
	}
	return found
}

// best are the instances of the first way that has any.
func best(of func(uuid.UUID) bool, ways ...[]uuid.UUID) []uuid.UUID {
	for _, found := range ways {
		if of != nil {
			found = only(found, of)
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// only are those of the instances that fit.
func only(instances []uuid.UUID, fits func(uuid.UUID) bool) []uuid.UUID {
	return slices.DeleteFunc(slices.Clone(instances), func(id uuid.UUID) bool { return !fits(id) })
}

// database finds a database of an instance, by name before external id.
func (d Directory) database(instance uuid.UUID, reference string) uuid.UUID {
	if reference == "" {
		return uuid.Nil
	}
	if id, ok := d.databases[onInstance{instance, reference}]; ok {
		return id
	}
	return d.databaseKeys[onInstance{instance, reference}]
}
