package postgresql

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
)

// TestConform holds the reader to what is promised of all, on rows as three versions of
// the extension give them.
func TestConform(t *testing.T) {
	t.Parallel()
	for _, major := range []int{13, 14, 17} {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			measuretest.Conform(t, func(t *testing.T) measuretest.Server {
				return &simulated{Simulated: measuretest.NewSimulated(t, "postgres"), major: major}
			})
		})
	}
}

// simulated is a PostgreSQL of a version, in rows.
type simulated struct {
	*measuretest.Simulated
	major   int
	session *serverstest.Session
}

var (
	statistics = measuretest.Part{Name: "pg_read_all_stats", Sessions: true, Statements: true, Grant: "GRANT pg_read_all_stats TO watcher;"}
	functions  = measuretest.Part{Name: "functions", Statements: true, Grant: "GRANT EXECUTE ON FUNCTION"}
)

func (s *simulated) Engine() measure.Engine { return Engine(s.Time.Now) }

func (s *simulated) Target() servers.Target {
	return servers.Target{Engine: fleet.PostgreSQL, Database: "postgres"}
}

func (s *simulated) Has() measuretest.Features {
	return measuretest.Features{
		Busy: s.major >= 14, Born: s.major >= 17, Cleared: s.major >= 14, Exact: true, Lock: "Lock",
		States: []measuretest.State{measuretest.ReadOnly, measuretest.Offline}, Parts: []measuretest.Part{statistics, functions},
	}
}

func (s *simulated) Open(_ context.Context, _ servers.Target, database string) (servers.Session, error) {
	s.session = serverstest.New(database)
	s.Ready()
	return s.session, nil
}

// Restart keeps the counters, as a server does that is shut down.
func (s *simulated) Restart() {
	s.Begin()
	s.session.Close(s.TB.Context())
}

func (s *simulated) Ready() {
	if s.session == nil {
		return
	}
	schema, word := "public", func(b bool) string { return map[bool]string{true: "t", false: "f"}[b] }
	on := func(query string, rows ...[]string) {
		s.session.On(strings.NewReplacer("@schema@", schema, "@application@", servers.ApplicationName).Replace(query), rows...)
	}
	reset := "0"
	if s.major >= 14 {
		reset = fmt.Sprint(s.ResetAt.UnixMicro())
	}
	clocks := []string{fmt.Sprint(s.Now().UnixMicro()), fmt.Sprint(s.Starts), reset}
	on(clocksQuery, clocks)
	on(clocks19Query, clocks)
	on(capabilitiesQuery, []string{word(s.major >= 14)})
	on(lockWaitsSince(true))
	on(lockWaitsSince(false))
	on(blockingSince(s.major >= 14, false))
	on(replicationWithout(s.major >= 14, nil), []string{`{"standby": false, "system": "7", "now": 1, "lsn": 100, "port": 5432, "timeline": 1}`})
	on(archiverQuery, []string{`{"standby": false, "now": 1, "mode": "off"}`})
	on(roomOfServer(), []string{`{"databases": 0, "all": [{"name": "app", "open": false, "transactions": 7, "multixacts": 1, "bytes": 8000000}]}`})
	on(wraparoundQuery, []string{"1.5", "shop", "f"})
	on(connectionsQuery, []string{"12", "97"})
	on(databasesQuery)
	on(tellsQuery, []string{word(s.major >= 14), word(s.major >= 14), word(s.major >= 17)})
	figure := func(of string, value string, by ...string) []string {
		row := []string{of, "5", value, "1/0", serverstest.Null, serverstest.Null, serverstest.Null, serverstest.Null, serverstest.Null, serverstest.Null}
		copy(row[4:], by)
		return row
	}
	on(figuresOf(s.major >= 14, s.major >= 14, s.major >= 17), figure("oldestTransaction", "70000", "17", "bill", "billing", "10.4.1.11", "7/10", "idleInTransaction"),
		figure("hidden", "0"), figure("untracked", "0"), figure("temporaryBytes", "8192"), figure("newConnections", "9"), figure("checkpointsTimed", "3"))
	columns := map[int]string{13: "calls,total_exec_time", 14: "toplevel,calls,total_exec_time", 17: "toplevel,calls,total_exec_time,stats_since"}[s.major]
	on(extensionQuery, []string{schema, columns, word(s.major >= 14), word(!s.Taken[functions.Name]), "t", "watcher", word(s.major >= 14)})
	sees := !s.Taken[statistics.Name]
	var sessions, statements, texts, active [][]string
	for _, d := range s.Databases {
		id, open := fmt.Sprint(d.ID), d.State != measuretest.Offline
		sessions = append(sessions, s.sessions(d, id, word(open), sees)...)
		active = append(active, []string{id, fmt.Sprint(d.BusyMs), "0"})
		for _, one := range d.Statements {
			query, since := fmt.Sprint(int64(one.Of)), "0" //nolint:gosec // G115: as the server has it
			if s.major >= 17 {
				since = fmt.Sprint(one.Born.UnixMicro())
			}
			row := []string{id, "10", "t", query, fmt.Sprint(one.Calls), fmt.Sprint(one.Ms), since}
			if !sees {
				row[3] = serverstest.Null
			}
			statements = append(statements, row)
			texts = append(texts, []string{id, "10", query, one.Text})
		}
	}
	on(sessionsSince(s.major >= 14), sessions...)
	on(map[int]string{13: statements18Query, 14: statements19Query, 17: statements111Query}[s.major], statements...)
	if s.Taken[functions.Name] {
		for _, query := range []string{statements18Query, statements19Query, statements111Query} {
			s.session.Fail(query, &servers.Refusal{Engine: fleet.PostgreSQL, Code: "42501", Reason: servers.Denied})
		}
	}
	on(textsQuery, texts...)
	on(rolesQuery, []string{"10", "app owner"})
	on(activeTimeQuery, active...)
}

// sessions are the rows of a database.
func (s *simulated) sessions(d *measuretest.Database, id, open string, sees bool) (rows [][]string) {
	row := func(split, wait string, sessions int64) {
		if sessions > 0 {
			rows = append(rows, []string{id, d.Name, open, map[bool]string{true: "t", false: "f"}[sees], "watcher", split, wait, fmt.Sprint(sessions), wait, "", "app", "shop", "10.4.1.11", "7"})
		}
	}
	if on := d.Sessions; sees {
		row("active", "", on.Active)
		row("idle", "Client", on.Idle)
		row("in transaction", "Client", on.InTransaction)
		row("waiting", "Lock", on.Waiting)
		row("other", "", on.Other)
	} else {
		row("hidden", "", on.Active+on.Idle+on.InTransaction+on.Waiting+on.Other)
	}
	if len(rows) == 0 {
		rows = [][]string{{id, d.Name, open, map[bool]string{true: "t", false: "f"}[sees], "watcher", "", "", "0", "", "", "", "", "", "7"}}
	}
	return rows
}
