package receivers

import (
	"time"

	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/internal/intake"
)

// Up is an exporter's metric that says whether the exporter could connect to its database
// server: 1 or 0. The zero value is no such metric.
type Up byte

// The metrics of the exporters.
const (
	pgUp       Up = iota + 1 // postgres_exporter, pg_exporter, pgSCV
	cnpgUp                   // CloudNativePG
	mssqlUp                  // sql_exporter's and mssql_exporter's
	oracledbUp               // oracledb_exporter
	mysqlUp
	mongodbUp
)

var ups = map[Up]struct {
	name   string
	engine fleet.Engine
}{
	pgUp: {"pg_up", fleet.PostgreSQL}, cnpgUp: {"cnpg_collector_up", fleet.PostgreSQL}, mssqlUp: {"mssql_up", fleet.SQLServer},
	oracledbUp: {"oracledb_up", fleet.Oracle}, mysqlUp: {"mysql_up", fleet.MySQL}, mongodbUp: {"mongodb_up", fleet.MongoDB},
}

// UpOf says which metric a name is.
func UpOf(name []byte) Up {
	switch string(name) {
	case "pg_up":
		return pgUp
	case "cnpg_collector_up":
		return cnpgUp
	case "mssql_up":
		return mssqlUp
	case "oracledb_up":
		return oracledbUp
	case "mysql_up":
		return mysqlUp
	case "mongodb_up":
		return mongodbUp
	}
	return 0
}

// Reach is a source's report about a server to which it tried to connect.
type Reach struct {
	Place  Place
	Engine fleet.Engine
	At     time.Time
	Up     bool
	By     string // the metric's name
}

// Reaches returns what the message says of attempts to connect, in its order.
func (m *Message) Reaches() []Reach { return m.reaches }

// Attempt takes a point of an exporter's own up metric.
func (m *Message) Attempt(up Up, place Place, at time.Time, value float64) {
	reason := m.untimely(at)
	switch {
	case reason != "":
	case value != 0 && value != 1:
		reason = intake.OutOfRange
	case place.tooLong():
		reason = intake.TooLong
	case len(m.reaches) == MaxLooks:
		reason = intake.TooMany
	}
	if reason != "" {
		m.Pass(reason, 1)
		return
	}
	m.Received++
	m.reaches = append(m.reaches, Reach{place, ups[up].engine, instant.Cut(at), value == 1, ups[up].name})
}
