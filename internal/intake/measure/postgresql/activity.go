package postgresql

import (
	"context"
	_ "embed" // the queries
	"strconv"
	"strings"

	"muster/internal/intake/measure"
	"muster/internal/measurements"
	"muster/internal/servers"
)

//go:embed sql/sessions.sql
var sessionsQuery string

// Activity groups the sessions on the server. An invisible session hides its database. Muster's
// own are left out.
func (r *reader) Activity(ctx context.Context, l *measure.Line) (*measure.Activity, error) {
	if err := r.meet(ctx, l); err != nil {
		return nil, err
	}
	a := &measure.Activity{}
	err := l.Each(ctx, servers.Statement{Columns: 14, Text: sessionsSince(r.tells)}, func(row [][]byte) error { return r.addRow(a, row) })
	if a.SeesAll = r.mayRead; err != nil {
		r.deadlocks = nil
		return a, err
	}
	r.countDeadlocks(a)
	return a, nil
}

// countDeadlocks makes of the servers' counters how many deadlocks there were since the look before.
// A database that is new is counted from the next look on. A counter that falls was reset.
func (r *reader) countDeadlocks(a *measure.Activity) {
	counted := make(map[uint32]int64, len(a.Databases))
	for i := range a.Databases {
		d := &a.Databases[i]
		now := d.Sample.Deadlocks
		if d.Sample.Deadlocks = nil; now == nil {
			continue
		}
		counted[d.ID] = *now
		if before, known := r.deadlocks[d.ID]; known {
			if *now >= before {
				*now -= before
			}
			d.Sample.Deadlocks = now
		}
	}
	r.deadlocks = counted
}

// meet asks once on each connection what the server tells.
func (r *reader) meet(ctx context.Context, l *measure.Line) error {
	if r.met == l.Session {
		return nil
	}
	r.deadlocks, r.withheld = nil, withheld{} // it may be another server
	row, err := servers.Row(ctx, l, 1, capabilitiesQuery)
	if err != nil {
		return err
	}
	r.met, r.tells = l.Session, row[0] == "t"
	return nil
}

// sessionsSince is the query of the sessions; tells says whether a session tells the id of its
// statement (since 14).
func sessionsSince(tells bool) string {
	queryID := "NULL::bigint"
	if tells {
		queryID = "query_id"
	}
	return strings.NewReplacer("@application@", servers.ApplicationName, "@query_id@", queryID).Replace(sessionsQuery)
}

// addRow takes in a row: databases come one after another, each with a row for every
// split and wait that its sessions have, and each of whom they are.
func (r *reader) addRow(a *measure.Activity, row [][]byte) error {
	oid, oidErr := strconv.ParseUint(string(row[0]), 10, 32)
	sessions, err := strconv.ParseInt(string(row[7]), 10, 64)
	if oidErr != nil || err != nil || len(row[1]) == 0 {
		return measure.ErrNonsense
	}
	r.mayRead, r.role = string(row[3]) == "t", string(row[4])
	if last := len(a.Databases) - 1; last < 0 || a.Databases[last].ID != uint32(oid) {
		a.Databases = append(a.Databases, measure.Database{
			ID: uint32(oid), Name: string(row[1]), Closed: string(row[2]) != "t",
		})
		if deadlocks, err := strconv.ParseInt(string(row[13]), 10, 64); err == nil { // it has no statistics yet, or any more
			a.Databases[last+1].Sample.Deadlocks = &deadlocks
		}
	}
	switch d, does := &a.Databases[len(a.Databases)-1], string(row[5]); does {
	case "": // it has no sessions
	case "worker": // counts as its leader, which is a row of its own
		a.Locked = true
	case "hidden":
		d.Hidden = true
	default:
		d.Count(does, measurements.Doing{
			Wait: string(row[6]), Event: string(row[8]), Statement: string(row[9]),
			User: string(row[10]), Application: string(row[11]), Client: string(row[12]), Sessions: sessions,
		})
		a.Locked = a.Locked || string(row[6]) == "Lock"
	}
	return nil
}
