package places

import (
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

// references returns what is to be looked up: every text that may mean an instance,
// and every one that may mean a database, once.
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

// Directory is what was found for labels: instances and databases of one organization
// that are there now, by what they are called. The zero value has none.
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

// Find says which instance labels mean, and which of its databases; uuid.Nil where
// that is none, or cannot be told.
func (d Directory) Find(l Labels) (instance, database uuid.UUID) {
	return d.one(d.candidates(l, nil), l)
}

// FindEngine is Find among the instances of one engine: an exporter of PostgreSQL says
// nothing of the SQL Server on the same host.
func (d Directory) FindEngine(l Labels, engine fleet.Engine) (instance, database uuid.UUID) {
	return d.one(d.candidates(l, func(id uuid.UUID) bool { return d.engines[id] != engine }), l)
}

func (d Directory) one(candidates []uuid.UUID, l Labels) (instance, database uuid.UUID) {
	if len(candidates) > 1 {
		candidates = slices.DeleteFunc(slices.Clone(candidates), func(id uuid.UUID) bool {
			return d.database(id, l.Database) == uuid.Nil
		})
	}
	if len(candidates) != 1 {
		return uuid.Nil, uuid.Nil
	}
	return candidates[0], d.database(candidates[0], l.Database)
}

// candidates are the instances of the best way in which any fits; the more a
// way says, the earlier it is tried. A label that was made for Muster is not
// overruled by a guess: with it, what Prometheus calls the instance is nothing.
// except says which instances are passed over; nil passes over none.
func (d Directory) candidates(l Labels, except func(uuid.UUID) bool) []uuid.UUID {
	ways := [][]uuid.UUID{d.ids[l.Instance], d.externalIDs[l.Instance], d.names[l.Instance]}
	if l.Instance == "" {
		ways = [][]uuid.UUID{
			d.names[l.Address], d.names[fleet.WithoutPort(l.Address)], d.names[fleet.HostOf(l.Address)],
			d.hosts.Find(l.Address), d.hosts.FindNear(l.Address),
		}
	}
	for _, found := range ways {
		if except != nil {
			found = slices.DeleteFunc(slices.Clone(found), except)
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
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
