package postgresql

import (
	"context"
	_ "embed" // the queries
	"strconv"
	"strings"

	"muster/internal/intake/measure"
	"muster/internal/servers"
)

//go:embed sql/sessions.sql
var sessionsQuery string

// Activity groups the sessions on the server. An invisible session hides its database. Muster's
// own are left out.
func (r *reader) Activity(ctx context.Context, l *measure.Line) (*measure.Activity, error) {
	a := &measure.Activity{}
	query := strings.ReplaceAll(sessionsQuery, "@application@", servers.ApplicationName)
	err := l.Each(ctx, 8, query, func(row [][]byte) error { return r.addRow(a, row) })
	a.SeesAll = r.mayRead
	return a, err
}

// addRow takes in a row: databases come one after another, each with a row for every
// split and wait that its sessions have.
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
	}
	switch d, does := &a.Databases[len(a.Databases)-1], string(row[5]); does {
	case "": // it has no sessions
	case "hidden":
		d.Hidden = true
	default:
		d.Count(does, string(row[6]), sessions)
		a.Locked = a.Locked || string(row[6]) == "Lock"
	}
	return nil
}
