package receivers

import (
	"bytes"

	"muster/internal/intake/resolve"
)

// Attributes are those of a resource, a record or a point that are read, as bytes of the
// message; numbers as they are written. An empty one is not there.
type Attributes struct {
	instance, database             []byte // muster_instance, muster_database
	address, serviceInstance, host []byte // server.address, service.instance.id, host.name
	namespace                      []byte // db.namespace, and what postgresql called it before
	event                          []byte // event.name of those who have no field for it
	text                           []byte // db.query.text

	executions, elapsed []byte // of a statement, since the last look; elapsed in seconds
	statement           []byte // query_hash, sql_id
	wait                []byte // wait_type, wait_class, wait_event_type
	session, serial     []byte // session_id, sid and serial, pid
	user                []byte // user.name
	state               []byte // of a session of PostgreSQL
	sessionType, status []byte // of oracledb.sessions.usage
	engine              engine // the receiver of these attributes
}

// engine is which receiver speaks.
type engine byte

const (
	unknown engine = iota
	sqlServer
	oracle
	postgresql
)

// Set stores an attribute, if it is one that is read. An attribute of a record replaces that of
// its resource.
func (a *Attributes) Set(name, value []byte) {
	if prefix, _, dotted := bytes.Cut(name, []byte(".")); dotted {
		switch string(prefix) {
		case "sqlserver":
			a.engine = sqlServer
		case "oracledb":
			a.engine = oracle
		case "postgresql":
			a.engine = postgresql
		}
	}
	if to := a.member(name); to != nil {
		*to = value
	}
}

// SetPrometheus stores a label of an exporter's series that an OpenTelemetry collector scraped,
// if it is one that is read.
func (a *Attributes) SetPrometheus(name, value []byte) {
	switch string(name) {
	case "muster_instance":
		a.instance = value
	case "instance":
		a.address = value
	}
}

func (a *Attributes) member(name []byte) *[]byte {
	switch string(name) {
	case "muster_instance":
		return &a.instance
	case "muster_database":
		return &a.database
	case "server.address":
		return &a.address
	case "service.instance.id":
		return &a.serviceInstance
	case "host.name":
		return &a.host
	case "db.namespace", "postgresql.database.name":
		return &a.namespace
	case "event.name":
		return &a.event
	case "db.query.text":
		return &a.text
	case "user.name":
		return &a.user
	case "session_type":
		return &a.sessionType
	case "session_status":
		return &a.status
	}
	return a.measured(name)
}

// measured are the attributes of events with an amount, and its subject.
func (a *Attributes) measured(name []byte) *[]byte {
	switch string(name) {
	case "sqlserver.execution_count", "oracledb.executions":
		return &a.executions
	case "sqlserver.total_elapsed_time", "oracledb.elapsed_time":
		return &a.elapsed
	case "sqlserver.query_hash", "oracledb.sql_id":
		return &a.statement
	case "sqlserver.wait_type", "oracledb.wait_class", "postgresql.wait_event_type":
		return &a.wait
	case "sqlserver.session_id", "oracledb.sid", "postgresql.pid":
		return &a.session
	case "oracledb.serial":
		return &a.serial
	case "postgresql.state":
		return &a.state
	}
	return nil
}

// Place is the origin that a message names. It is kept beyond the message.
type Place struct {
	Instance, Address string
	// Databases are the possible databases, the more likely first: the one in the record, and
	// the one that the collector's configuration sets for records that name none, or no known
	// one. An empty one is missing.
	Databases [2]string
}

// Labels are the place with one of its databases.
func (p Place) Labels(database int) resolve.Labels {
	return resolve.Labels{Instance: p.Instance, Address: p.Address, Database: p.Databases[database]}
}

// tooLong is whether a name is longer than any that Muster knows.
func (p Place) tooLong() bool {
	return len(p.Instance) > maxName || len(p.Address) > maxName || len(p.Databases[0]) > maxName || len(p.Databases[1]) > maxName
}

// Place is what the attributes say of where a record is from.
func (a *Attributes) Place() Place {
	address := a.address
	if len(address) == 0 { // host.name may be the collector's own machine
		address, _, _ = bytes.Cut(a.serviceInstance, []byte("/"))
	}
	if len(address) == 0 {
		address = a.host
	}
	said, _, _ := bytes.Cut(a.namespace, []byte("|")) // database|schema
	return Place{string(a.instance), string(address), [2]string{string(said), string(a.database)}}
}
