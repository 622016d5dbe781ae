package postgresql

import (
	"context"
	_ "embed" // the query
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/measurements/replication"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

//go:embed sql/replication.sql
var replicationQuery string

// replicationParts are the parts of the query that an account may be denied, with what they read. What
// others need comes first. Whoever has pg_monitor may read all of them, unless somebody revoked a right
// that everybody has.
var replicationParts = []struct{ name, object, grant string }{
	{"system", "pg_control_system(), which identifies a cluster", "EXECUTE ON FUNCTION pg_control_system()"},
	{"receiver", "pg_stat_wal_receiver", "SELECT ON pg_stat_wal_receiver"},
	{"slots", "pg_replication_slots", "SELECT ON pg_replication_slots"},
	{"peers", "pg_stat_replication", "SELECT ON pg_stat_replication"},
	{"subscriptions", "the subscriptions in pg_subscription", "SELECT (oid, subdbid, subname, subenabled, subslotname) ON pg_subscription"},
}

// withheld are the parts that the account may not read, as it was found.
type withheld struct {
	parts []string
	until time.Time // when all of them are tried again
}

// withheldParts are those to leave out.
func (r *reader) withheldParts(now time.Time) []string {
	if !now.Before(r.withheld.until) {
		r.withheld.parts = nil
	}
	return r.withheld.parts
}

// findWithheld tries each part without those after it.
func (r *reader) findWithheld(ctx context.Context, l *measure.Line) error {
	r.withheld = withheld{until: r.now().Add(searchEvery)}
	for i, part := range replicationParts {
		without := slices.Clone(r.withheld.parts)
		for _, later := range replicationParts[i+1:] {
			without = append(without, later.name)
		}
		_, err := servers.Row(ctx, l, 1, replicationWithout(r.tells, without))
		if servers.ReasonOf(err) == servers.Denied {
			r.withheld.parts = append(r.withheld.parts, part.name)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// replicationWithout is the query without some parts; told says whether the server is 14 or newer.
// Nobody but a superuser may read in 13 which subscription a worker is of, and it has the name only.
func replicationWithout(told bool, parts []string) string {
	query := replicationQuery
	for _, part := range parts {
		query = regexp.MustCompile(`(?s) *-- \[`+part+`\n.*-- `+part+`\]\n`).ReplaceAllString(query, "")
	}
	pause, worker, running, slots := "NULL::text", "w.subname = s.subname", `count(w.pid) > 0 AND count(w.pid) >=
                    (SELECT count(*) FROM pg_subscription AS o WHERE o.subname = s.subname AND o.subenabled)`, "pg_replication_slots"
	if told {
		pause, worker, running = "pg_get_wal_replay_pause_state()", "w.subid = s.oid", "count(w.pid) > 0"
	}
	if slices.Contains(parts, "slots") {
		slots = "(SELECT NULL::name AS slot_name, NULL::text AS slot_type, NULL::integer AS active_pid)"
	}
	return strings.NewReplacer(
		"@pause_state@", pause, "@worker@", worker, "@running@", running, "@slots@", slots, "@most@", strconv.Itoa(replication.MaxPeers),
	).Replace(query)
}

// grantOf is the grant of a part.
func (r *reader) grantOf(name string) string {
	for _, part := range replicationParts {
		if part.name == name {
			return "GRANT " + part.grant + " TO " + r.role + ";"
		}
	}
	return ""
}

// missingReplication are the grants that the parts lack.
func (r *reader) missingReplication() (lacking []snapshot.MissingGrant) {
	for _, part := range replicationParts {
		if slices.Contains(r.withheld.parts, part.name) {
			lacking = append(lacking, snapshot.MissingGrant{Object: part.object, Statement: r.grantOf(part.name)})
		}
	}
	return lacking
}
