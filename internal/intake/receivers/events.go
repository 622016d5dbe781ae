package receivers

import (
	"time"

	"muster/internal/intake"
	"muster/internal/measurements"
)

// The events that are read.
const (
	querySample = "db.server.query_sample"
	topQuery    = "db.server.top_query"
)

// IsEvent says that a record of that name is read.
func IsEvent(name []byte) bool { return string(name) == querySample || string(name) == topQuery }

// Event takes a record of an event: its attributes over those of its resource.
func (m *Message) Event(name []byte, a *Attributes, at time.Time) {
	if len(name) == 0 {
		name = a.event
	}
	switch {
	case !IsEvent(name) || a.engine == unknown:
		m.Pass(intake.NotUsed, 1)
	case string(name) == querySample:
		m.takeSession(a, at)
	case a.engine == postgresql:
		m.Pass(intake.Unsupported, 1) // doc.go says why
	default:
		m.takeStatement(a, at)
	}
}

// takeSession counts a waiting session. A session that does not wait is a look, too: it shows
// that a look took place.
func (m *Message) takeSession(a *Attributes, at time.Time) {
	if a.engine == postgresql && string(a.state) != "active" || a.engine == oracle && len(a.user) == 0 {
		m.Pass(intake.NotUsed, 1) // idle, or a process of the server's own
		return
	}
	of := m.look(a, at, sessions)
	if of == nil {
		return
	}
	if of.Waits == nil {
		of.Waits, of.sessions = map[string]int64{}, map[string]bool{}
	}
	if id := string(a.session) + "\x00" + string(a.serial); len(a.session) > 0 {
		if of.sessions[id] {
			return // counted, and once
		}
		of.sessions[id] = true
	}
	if len(a.wait) == 0 {
		return
	}
	wait, ok := name(a.wait)
	switch {
	case !ok:
		m.takeBack(of, intake.Malformed)
	case of.Waits[wait] == 0 && len(of.Waits) == maxWaits:
		m.takeBack(of, intake.TooMany)
	default:
		of.Waits[wait]++
	}
}

// takeStatement adds the executions of a statement. A statement with several plans or cursors
// comes once for each.
func (m *Message) takeStatement(a *Attributes, at time.Time) {
	of := m.look(a, at, statements)
	if of == nil {
		return
	}
	key, ok := name(a.statement)
	if !ok {
		m.takeBack(of, intake.Malformed)
		return
	}
	calls, counted := number(a.executions, maxCount)
	seconds, timed := number(a.elapsed, maxMs/1000)
	switch {
	case len(a.executions) == 0 || len(a.elapsed) == 0 || calls == 0:
		m.takeBack(of, intake.Incomplete) // time without an execution, or an execution without its time
		return
	case !counted || !timed || calls != float64(int64(calls)):
		m.takeBack(of, intake.OutOfRange)
		return
	}
	of.addStatement(measurements.Statement{Key: key, Calls: int64(calls), TotalMs: 1000 * seconds, Text: textOf(a.text)})
}
