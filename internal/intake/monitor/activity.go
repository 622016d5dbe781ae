package monitor

import (
	"context"
	_ "embed" // the queries
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/servers"
)

//go:embed sql/sessions.sql
var sessionsQuery string

// activity is what the sessions on a server do, by database.
type activity struct {
	at        time.Time // by our clock
	role      string    // ours, quoted
	mayRead   bool      // it sees what others do
	databases []databaseActivity
}

type databaseActivity struct {
	oid         uint32
	name        string
	connectable bool
	hidden      int64 // sessions that we may not look at
	sample      measurements.SessionSample
}

func readActivity(ctx context.Context, s servers.Session, at time.Time) (*activity, error) {
	a := &activity{at: at}
	query := strings.ReplaceAll(sessionsQuery, "@application@", servers.ApplicationName)
	return a, s.Each(ctx, 8, query, a.addRow)
}

// addRow takes in a row: databases come one after another, each with a row for every
// split and wait that its sessions have.
func (a *activity) addRow(row [][]byte) error {
	oid, oidErr := strconv.ParseUint(string(row[0]), 10, 32)
	sessions, err := strconv.ParseInt(string(row[7]), 10, 64)
	if oidErr != nil || err != nil {
		return errNonsense
	}
	a.mayRead, a.role = string(row[3]) == "t", string(row[4])
	if last := len(a.databases) - 1; last < 0 || a.databases[last].oid != uint32(oid) {
		a.databases = append(a.databases, databaseActivity{
			oid: uint32(oid), name: strings.ToValidUTF8(string(row[1]), "\uFFFD"), connectable: string(row[2]) == "t",
		})
	}
	a.databases[len(a.databases)-1].count(string(row[5]), string(row[6]), sessions)
	return nil
}

func (d *databaseActivity) count(split, wait string, sessions int64) {
	switch s := &d.sample; split {
	case "": // nobody is on it
	case "hidden":
		d.hidden += sessions
	case "active":
		s.Active += sessions
	case "waiting":
		s.Waiting += sessions
	case "idle":
		s.Idle += sessions
	case "in transaction":
		s.IdleInTransaction += sessions
	default:
		s.Other += sessions
	}
	if wait != "" {
		if d.sample.Waits == nil {
			d.sample.Waits = make(map[string]int64)
		}
		d.sample.Waits[wait] += sessions
	}
}

// names are the databases that the fleet is to know.
func (a *activity) names() []string {
	names := make([]string, len(a.databases))
	for i, d := range a.databases {
		names[i] = d.name
	}
	return names
}

// samples are those of the databases that the fleet knows. Where a session is hidden
// from us its database has none: what it does is unknown, and not nothing. One that
// nobody is on is sampled too, and nobody waits there; but one that takes no
// connections is not.
func (a *activity) samples(instance uuid.UUID, ids map[string]uuid.UUID) []measurements.SessionSample {
	var out []measurements.SessionSample
	for _, d := range a.databases {
		id, known := ids[d.name]
		if !known || d.hidden > 0 || !d.connectable {
			continue
		}
		s := d.sample
		s.Instance, s.Engine, s.Database, s.At, s.Interval = instance, fleet.PostgreSQL, id, a.at, sessionsEvery
		out = append(out, s)
	}
	return out
}
