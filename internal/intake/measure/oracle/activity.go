package oracle

import (
	"context"
	_ "embed" // the queries
	"errors"
	"slices"
	"strconv"
	"strings"

	"muster/internal/intake/measure"
	"muster/internal/measurements"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

//go:embed sql/containers.sql
var containersQuery string

//go:embed sql/cluster_containers.sql
var clusterContainersQuery string

//go:embed sql/sessions.sql
var sessionsQuery string

//go:embed sql/cluster_sessions.sql
var clusterSessionsQuery string

// seed is the template of pluggable databases: it has no sessions.
const seed = "PDB$SEED"

// errBlind says that a common user in the root sees no pluggable database.
var errBlind = errors.New("the account sees no pluggable database")

// Activity reads the activity of the sessions of each container. Without the right for that,
// the databases are still listed, with unknown activity. In the root, without the containers,
// nothing is listed: the root alone would say that the others are gone.
func (r *reader) Activity(ctx context.Context, l *measure.Line) (*measure.Activity, error) {
	r.askGranted(ctx, l.Session)
	if err := r.meet(ctx, l.Session); err != nil {
		return nil, err
	}
	if err := r.readContainers(ctx, l); err != nil {
		return nil, err
	}
	a := &measure.Activity{Databases: slices.Clone(r.databases)}
	a.Trouble = r.countSessions(ctx, l, a)
	if a.Trouble != nil && !isRefusal(a.Trouble) {
		return nil, a.Trouble
	}
	if _, denied := r.lacking["sessions"]; denied || a.Trouble != nil || r.running == nil {
		for i := range a.Databases {
			a.Databases[i].Hidden = true
		}
	} else {
		a.SeesAll = true
	}
	return a, nil
}

// readContainers lists the databases. Without the grant for that, it returns those of the last
// look, or the one of the connection, unless that is the root.
func (r *reader) readContainers(ctx context.Context, l *measure.Line) error {
	rows, err := servers.Query(ctx, l, 3, r.in(containersQuery, clusterContainersQuery))
	denied := servers.ReasonOf(err) == servers.Denied
	refusal := err
	if !r.may("containers", r.view("V$CONTAINERS"), &err) && err != nil {
		return err
	}
	inRoot := r.self.multi && r.self.container == root
	if blind := inRoot && len(rows) == 1; blind {
		r.lacking["pluggable databases"] = snapshot.MissingGrant{
			Object:    "the pluggable databases",
			Statement: "ALTER USER " + quoted(r.self.account) + " SET CONTAINER_DATA = ALL CONTAINER = CURRENT;",
		}
		denied, refusal = true, errBlind
	} else if !denied {
		delete(r.lacking, "pluggable databases")
	}
	switch {
	case !denied:
		r.databases, err = databases(rows)
		return err
	case r.databases != nil:
		return nil
	case inRoot:
		return refusal
	}
	r.databases = []measure.Database{{ID: r.self.container, Name: r.self.name}}
	return nil
}

// databases are the containers in rows that accept sessions. In a cluster each has one row for
// each instance; a container that is open on any of them accepts connections.
func databases(rows [][]string) ([]measure.Database, error) {
	var all []measure.Database
	for _, row := range rows {
		id, err := strconv.ParseUint(row[0], 10, 32)
		if err != nil || row[1] == "" {
			return nil, measure.ErrNonsense
		}
		if row[1] == seed {
			continue
		}
		at := slices.IndexFunc(all, func(d measure.Database) bool { return d.ID == uint32(id) })
		if at < 0 {
			at, all = len(all), append(all, measure.Database{ID: uint32(id), Name: row[1], Closed: true})
		}
		all[at].Closed = all[at].Closed && row[2] == "MOUNTED"
	}
	if len(all) == 0 {
		return nil, measure.ErrNonsense
	}
	return all, nil
}

// countSessions counts the sessions into the databases that they are in.
func (r *reader) countSessions(ctx context.Context, l *measure.Line, a *measure.Activity) error {
	query := strings.ReplaceAll(r.in(sessionsQuery, clusterSessionsQuery), "@application@", servers.ApplicationName)
	rows, err := servers.Query(ctx, l, 9, query)
	if !r.may("sessions", r.view("V$SESSION"), &err) {
		return err
	}
	of := make(map[uint32]*measure.Database, len(a.Databases))
	for i := range a.Databases {
		of[a.Databases[i].ID] = &a.Databases[i]
	}
	statements := r.statementsOf(rows)
	for _, row := range rows {
		a.Locked = a.Locked || row[1] == "waiting" && (row[2] == "Application" || row[2] == "Concurrency")
		container, err1 := strconv.ParseUint(row[0], 10, 32)
		sessions, err := strconv.ParseInt(row[3], 10, 64)
		if err1 != nil || err != nil {
			return measure.ErrNonsense
		}
		if d := of[uint32(container)]; d != nil {
			d.Count(row[1], measurements.Doing{
				Wait: row[2], Event: row[4], Statement: statements[row[8]], User: row[5], Application: row[6], Client: row[7], Sessions: sessions,
			})
		}
	}
	return nil
}

// statementsOf are the names of the statements that sessions execute, by their SQL_IDs, as the last
// list has them. A session does not say by which plan it executes: a SQL_ID with several plans has
// no name.
func (r *reader) statementsOf(rows [][]string) map[string]string {
	wanted := make(map[uint64]string)
	for _, row := range rows {
		if id, err := sqlNumber(row[8]); err == nil {
			wanted[id] = row[8]
		}
	}
	names := make(map[string]string, len(wanted))
	if r.last == nil || len(wanted) == 0 {
		return names
	}
	for _, e := range r.last.Entries {
		sql, is := wanted[e.Entry[0]]
		if !is {
			continue
		}
		if name, known := names[sql]; !known {
			names[sql] = r.Name(e.Statement)
		} else if name != r.Name(e.Statement) {
			names[sql] = ""
		}
	}
	return names
}
