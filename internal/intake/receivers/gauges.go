package receivers

import (
	"bytes"
	"math"
	"time"

	"muster/internal/intake"
)

// Gauge is the meaning of a receiver's metric. The zero value is a metric that is not read.
type Gauge byte

// The metrics that are read, all of connections.
const (
	Backends        Gauge = iota + 1 // of a database of PostgreSQL, of whatever kind
	UserConnections                  // of an instance of SQL Server
	Sessions                         // of Oracle, by type and status
)

// GaugeOf says what a name means.
func GaugeOf(name []byte) Gauge {
	switch string(name) {
	case "postgresql.backends":
		return Backends
	case "sqlserver.user.connection.count":
		return UserConnections
	case "oracledb.sessions.usage":
		return Sessions
	}
	return 0
}

// Count takes a point of a gauge: its attributes over those of its resource.
func (m *Message) Count(gauge Gauge, a *Attributes, at time.Time, value float64) {
	switch {
	case math.IsNaN(value) || math.IsInf(value, 0):
		m.Pass(intake.NotANumber, 1)
		return
	case value < 0 || value > maxCount || value != math.Trunc(value):
		m.Pass(intake.OutOfRange, 1)
		return
	}
	a.engine = map[Gauge]engine{Backends: postgresql, UserConnections: sqlServer, Sessions: oracle}[gauge]
	if gauge == UserConnections {
		a.namespace = nil // it is the instance's, whatever database its resource names
	}
	if gauge == Sessions && !bytes.EqualFold(a.sessionType, []byte("USER")) {
		m.Pass(intake.NotUsed, 1) // a process of the server's own
		return
	}
	of := m.look(a, at, connections)
	if of == nil {
		return
	}
	if of.Counts == nil {
		of.Counts = &Counts{}
	}
	to := &of.Counts.Other
	switch {
	case gauge == Sessions && bytes.EqualFold(a.status, []byte("ACTIVE")):
		to = &of.Counts.Active
	case gauge == Sessions && bytes.EqualFold(a.status, []byte("INACTIVE")):
		to = &of.Counts.Idle
	}
	*to = min(*to+int64(value), maxCount)
}
