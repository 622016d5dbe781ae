package receivers

import (
	"bytes"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/domain/printable"
	"muster/internal/intake"
	"muster/internal/measurements"
)

// Limits of what one message may make.
const (
	MaxLooks   = 100_000
	MaxRecords = 500_000 // that are used
	maxName    = 255     // bytes of an instance, a database and an address
	maxKey     = 200     // bytes of a statement's key and the name of a wait
	maxText    = 64 << 10
	maxWaits   = 300     // of a look
	maxCount   = 1 << 40 // as the native feed has it, and of milliseconds 1e15
	maxMs      = 1e15
	maxAhead   = 5 * time.Minute
)

// Message gathers what one message says of databases.
type Message struct {
	intake.Receipt // of records and points

	latest   time.Time
	used     int
	resource int // how many there were
	looks    map[lookKey]*Look
	order    []*Look
	reaches  []Reach
}

// lookKey tells scrapes apart: events of one have the same time, and the points of one
// metric the same resource.
type lookKey struct {
	place    Place
	engine   engine
	about    about
	at       int64 // µs
	resource int
}

// about is what a look is about.
type about byte

const (
	sessions about = iota
	statements
	connections
)

// Look is one scrape of one place: of what its sessions wait for, of its statements, or
// of how many connections it has.
type Look struct {
	Place   Place
	Engine  fleet.Engine
	At      time.Time
	Records int // of which it is made

	Waits      map[string]int64         // nil: no session was looked at
	Statements []measurements.Statement // with their texts as they were sent
	Counts     *Counts                  // nil: connections were not counted

	sessions map[string]bool
	keys     map[string]int // places in Statements
}

// Add joins a look at the same database and time, by another name of it.
func (l *Look) Add(o *Look) {
	l.Records += o.Records
	if l.Waits == nil {
		l.Waits = o.Waits
	} else {
		for wait, n := range o.Waits {
			l.Waits[wait] += n
		}
	}
	for _, one := range o.Statements {
		l.addStatement(one)
	}
	switch {
	case l.Counts == nil:
		l.Counts = o.Counts
	case o.Counts != nil:
		l.Counts.Active += o.Counts.Active
		l.Counts.Idle += o.Counts.Idle
		l.Counts.Other += o.Counts.Other
	}
}

// addStatement adds the executions of a statement to the known ones.
func (l *Look) addStatement(one measurements.Statement) {
	n, known := l.keys[one.Key]
	if !known {
		if l.keys == nil {
			l.keys = map[string]int{}
		}
		l.keys[one.Key] = len(l.Statements)
		l.Statements = append(l.Statements, one)
		return
	}
	to := &l.Statements[n]
	to.Calls = min(to.Calls+one.Calls, maxCount)
	to.TotalMs = min(to.TotalMs+one.TotalMs, maxMs)
}

// Counts are connections.
type Counts struct{ Active, Idle, Other int64 }

// New returns an empty message that came at receipt.
func New(receipt time.Time) *Message {
	return &Message{Receipt: intake.Receipt{Dropped: map[intake.Reason]int{}}, latest: receipt.Add(maxAhead), looks: map[lookKey]*Look{}}
}

// Pass counts records that are not used.
func (m *Message) Pass(reason intake.Reason, n int) {
	if n > 0 {
		m.Received += n
		m.Drop(reason, n)
	}
}

// NextResource says that what follows is another resource's.
func (m *Message) NextResource() { m.resource++ }

// Looks returns what the message brings, in the order in which it did.
func (m *Message) Looks() []*Look { return m.order }

var engines = map[engine]fleet.Engine{sqlServer: fleet.SQLServer, oracle: fleet.Oracle, postgresql: fleet.PostgreSQL}

// look is the look to which a record belongs, and counts the record; nil if there is none, and
// the record is dropped. Points of connections belong to one look whatever their times are.
func (m *Message) look(a *Attributes, at time.Time, about about) *Look {
	if reason := m.untimely(at); reason != "" {
		m.Pass(reason, 1)
		return nil
	}
	if m.used == MaxRecords {
		m.Pass(intake.TooMany, 1)
		return nil
	}
	if len(a.instance) > maxName || len(a.database) > maxName || len(a.address) > maxName || len(a.serviceInstance) > maxName || len(a.host) > maxName || len(a.namespace) > maxName {
		m.Pass(intake.TooLong, 1)
		return nil
	}
	key := lookKey{place: a.Place(), engine: a.engine, about: about, at: at.UnixMicro()}
	if about == connections {
		key.at, key.resource = 0, m.resource
	}
	of := m.looks[key]
	if of == nil {
		if len(m.order) == MaxLooks {
			m.Pass(intake.TooMany, 1)
			return nil
		}
		of = &Look{Place: key.place, Engine: engines[a.engine], At: instant.Cut(at)}
		m.looks[key] = of
		m.order = append(m.order, of)
	}
	if at := instant.Cut(at); at.After(of.At) {
		of.At = at
	}
	m.Received++
	m.used++
	of.Records++
	return of
}

// untimely says why a record of that time cannot be used; "" if it can.
func (m *Message) untimely(at time.Time) intake.Reason {
	switch {
	case !at.After(time.Unix(0, 0)) || at.UnixMicro() == 0:
		return intake.InvalidTime
	case at.After(m.latest):
		return intake.TimeInFuture
	}
	return ""
}

// takeBack drops a record that turned out to be of no use.
func (m *Message) takeBack(of *Look, reason intake.Reason) {
	of.Records--
	m.Drop(reason, 1)
}

// name is a key or the name of a wait as it can be kept; false: it cannot.
func name(text []byte) (string, bool) {
	if len(text) == 0 || len(text) > maxKey || !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return "", false
	}
	return printable.Clean(string(text)), true
}

// number reads a number that is not negative and within a maximum.
func number(written []byte, most float64) (float64, bool) {
	v, err := strconv.ParseFloat(string(written), 64)
	return v, err == nil && v >= 0 && v <= most // not NaN, either
}

// textOf is the text of a statement as it was sent, or as much of it as a person may see.
func textOf(sent []byte) string {
	return strings.ToValidUTF8(string(sent[:min(len(sent), maxText)]), "\uFFFD")
}
