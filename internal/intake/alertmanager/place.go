package alertmanager

import (
	"net"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// Place is what the labels of an alert say about where it belongs. An empty
// member says nothing.
type Place struct {
	Instance string // label muster_instance: an id, an external id or a name
	Address  string // label instance: a name or a host, perhaps with a port
	Database string // label muster_database or datname: a name or an external id
}

func placeOf(labels map[string]string) Place {
	p := Place{Instance: labels["muster_instance"], Address: labels["instance"], Database: labels["muster_database"]}
	if p.Database == "" {
		p.Database = labels["datname"]
	}
	return p
}

// host is the address without its port.
func (p Place) host() string {
	if host, _, err := net.SplitHostPort(p.Address); err == nil && host != "" {
		return host
	}
	return p.Address
}

// References returns what is to be looked up for the alerts' places: every text
// that may mean an instance, and every one that may mean a database, once.
func References(alerts []Alert) (instances, databases []string) {
	for _, a := range alerts {
		instances = append(instances, a.Place.Instance, a.Place.Address, a.Place.host())
		databases = append(databases, a.Place.Database)
	}
	return known(instances), known(databases)
}

// known sorts, and leaves out what no database of ours can hold.
func known(texts []string) []string {
	texts = slices.DeleteFunc(texts, func(s string) bool { return s == "" || strings.ContainsRune(s, 0) })
	slices.Sort(texts)
	return slices.Compact(texts)
}

// Instance is a server that a label may mean.
type Instance struct {
	ID                     uuid.UUID
	ExternalID, Name, Host string
}

// Database is a database that a label may mean.
type Database struct {
	ID, InstanceID   uuid.UUID
	ExternalID, Name string
}

// Fleet is what was found for the references: instances and databases of one
// organization that are there now, by what they are called.
type Fleet struct {
	ids, externalIDs, names, hosts map[string][]uuid.UUID
	databases                      map[databaseName]uuid.UUID
	databaseKeys                   map[databaseName]uuid.UUID // by external id
}

type databaseName struct {
	instance uuid.UUID
	name     string
}

// NewFleet returns those instances and databases.
func NewFleet(instances []Instance, databases []Database) Fleet {
	f := Fleet{
		ids: map[string][]uuid.UUID{}, externalIDs: map[string][]uuid.UUID{},
		names: map[string][]uuid.UUID{}, hosts: map[string][]uuid.UUID{},
		databases: map[databaseName]uuid.UUID{}, databaseKeys: map[databaseName]uuid.UUID{},
	}
	for _, i := range instances {
		f.ids[i.ID.String()] = append(f.ids[i.ID.String()], i.ID)
		f.externalIDs[i.ExternalID] = append(f.externalIDs[i.ExternalID], i.ID)
		f.names[i.Name] = append(f.names[i.Name], i.ID)
		f.hosts[i.Host] = append(f.hosts[i.Host], i.ID)
	}
	for _, d := range databases {
		f.databases[databaseName{d.InstanceID, d.Name}] = d.ID
		f.databaseKeys[databaseName{d.InstanceID, d.ExternalID}] = d.ID
	}
	return f
}

// Find says which instance a place means, and which of its databases; uuid.Nil
// where that is none, or cannot be told.
func (f Fleet) Find(p Place) (instance, database uuid.UUID) {
	candidates := f.candidates(p)
	if len(candidates) > 1 {
		candidates = slices.DeleteFunc(slices.Clone(candidates), func(id uuid.UUID) bool {
			return f.database(id, p.Database) == uuid.Nil
		})
	}
	if len(candidates) != 1 {
		return uuid.Nil, uuid.Nil
	}
	return candidates[0], f.database(candidates[0], p.Database)
}

// candidates are the instances of the best way in which any fits; the more a
// way says, the earlier it is tried. A label that was made for Muster is not
// overruled by a guess: with it, what Prometheus calls the instance is nothing.
func (f Fleet) candidates(p Place) []uuid.UUID {
	type way struct {
		called map[string][]uuid.UUID
		text   string
	}
	ways := []way{{f.ids, p.Instance}, {f.externalIDs, p.Instance}, {f.names, p.Instance}}
	if p.Instance == "" {
		ways = []way{{f.names, p.Address}, {f.names, p.host()}, {f.hosts, p.Address}, {f.hosts, p.host()}}
	}
	for _, w := range ways {
		if found := w.called[w.text]; w.text != "" && len(found) > 0 {
			return found
		}
	}
	return nil
}

// database finds a database of an instance, by name before external id.
func (f Fleet) database(instance uuid.UUID, reference string) uuid.UUID {
	if reference == "" {
		return uuid.Nil
	}
	if id, ok := f.databases[databaseName{instance, reference}]; ok {
		return id
	}
	return f.databaseKeys[databaseName{instance, reference}]
}
