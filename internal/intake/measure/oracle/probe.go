package oracle

import (
	"context"
	_ "embed" // the queries
	"strconv"
	"strings"

	"muster/internal/servers"
)

//go:embed sql/version.sql
var versionQuery string

//go:embed sql/database.sql
var databaseQuery string

//go:embed sql/database_18.sql
var database18Query string

// Facts are what a database really is, beside what it has.
type Facts struct {
	Version   string // "19.24.0.0.0"; before 18 without the release update, "12.2.0.1.0"
	Edition   string // "EE", "SE2", "XE"; empty: not granted
	Container string // where the session is: CDB$ROOT, a pluggable database, or the database
	Multi     bool   // it is a container database
	Root      bool   // the session is in its root
	OpenMode  string // "READ WRITE", "READ ONLY WITH APPLY", "MOUNTED"; empty: not granted
	Role      string // "PRIMARY", "PHYSICAL STANDBY"
	Instances int    // that run; 0: not granted
}

// Probe asks what a database is. What is not granted is empty; only a connection that is
// lost is an error, and an answer that makes no sense.
func Probe(ctx context.Context, s servers.Session) (Facts, error) {
	me, err := readSelf(ctx, s)
	if err != nil {
		return Facts{}, err
	}
	f := Facts{Container: me.name, Multi: me.multi, Root: me.multi && me.container == root}
	release, err := servers.Row(ctx, s, 1, versionQuery)
	if err != nil && !isRefusal(err) {
		return Facts{}, err
	}
	query := databaseQuery
	if err == nil {
		f.Version = release[0]
		if majorOf(f.Version) >= 18 {
			query = database18Query
		}
	}
	row, err := servers.Row(ctx, s, 5, query)
	if err != nil && !isRefusal(err) {
		return Facts{}, err
	}
	if err == nil {
		f.OpenMode, f.Role, f.Version, f.Edition = row[1], row[2], row[3], row[4]
	}
	for _, query := range []string{instanceQuery, instancesQuery} { // a cluster's, where they are granted
		running, _, err := instances(ctx, s, query)
		if err != nil && !isRefusal(err) {
			return Facts{}, err
		}
		f.Instances = max(f.Instances, len(running))
	}
	return f, nil
}

// majorOf is the first number of a version; 0: it has none.
func majorOf(version string) int {
	first, _, _ := strings.Cut(version, ".")
	n, _ := strconv.Atoi(first)
	return n
}
