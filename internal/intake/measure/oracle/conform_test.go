package oracle

import (
	"context"
	"fmt"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
)

// TestConform holds the reader to what is promised of all.
func TestConform(t *testing.T) {
	t.Parallel()
	measuretest.Conform(t, func(t *testing.T) measuretest.Server {
		s := &simulated{Simulated: measuretest.NewSimulated(t, "CDB$ROOT")}
		s.scene = &scene{t: t, session: serverstest.New("orders.example.com"), clock: s.Time, ahead: 120}
		return s
	})
}

// simulated is an Oracle 19c with pluggable databases, in rows.
type simulated struct {
	*measuretest.Simulated
	scene *scene // the source of the answers
}

var parts = []measuretest.Part{
	{Name: "V$SESSION", Sessions: true, Grant: `GRANT SELECT ON SYS.V_$SESSION TO "C##MUSTER";`},
	{Name: "V$SQLSTATS_PLAN_HASH", Statements: true, Grant: `GRANT SELECT ON SYS.V_$SQLSTATS_PLAN_HASH TO "C##MUSTER";`},
	{Name: "V$SQL", Grant: `GRANT SELECT ON SYS.V_$SQL TO "C##MUSTER";`},
	{Name: "V$CON_SYS_TIME_MODEL", Grant: `GRANT SELECT ON SYS.V_$CON_SYS_TIME_MODEL TO "C##MUSTER";`},
}

func (s *simulated) Engine() measure.Engine { return Engine() }

func (s *simulated) Target() servers.Target {
	return servers.Target{Engine: fleet.Oracle, Database: "orders.example.com"}
}

func (s *simulated) Has() measuretest.Features {
	return measuretest.Features{
		Busy: true, Exact: true, Lock: "Application",
		States: []measuretest.State{measuretest.ReadOnly, measuretest.Offline}, Parts: parts,
	}
}

func (s *simulated) Open(context.Context, servers.Target, string) (servers.Session, error) {
	s.scene.session = s.scene.again()
	s.Ready()
	return s.scene.session, nil
}

// Restart leaves nothing in the shared pool.
func (s *simulated) Restart() {
	s.Begin()
	s.Reset()
	s.scene.session.Close(s.TB.Context())
}

func (s *simulated) Ready() {
	sc := s.scene
	sc.skew, sc.started = s.Ahead, fmt.Sprintf("2026-11-%02d 03:00:00", s.Starts)
	sc.self("1", "CDB$ROOT", "ORCL", "C##MUSTER")
	sc.instance("NO")
	sc.now()
	sc.on(lockWaitQuery)
	sc.figures()
	sc.on(replicationQuery, alone)
	sc.on(destinationsQuery)
	sc.backups()
	sc.on(jobsQuery)
	for _, query := range roomQueries {
		sc.on(query)
	}
	sc.blocked()
	containers := [][]string{{"2", "PDB$SEED", "READ ONLY"}}
	var sessions, statements, births, texts, times [][]string
	for _, d := range s.Databases {
		id := fmt.Sprint(d.ID)
		mode := map[measuretest.State]string{measuretest.Open: "READ WRITE", measuretest.ReadOnly: "READ ONLY", measuretest.Offline: "MOUNTED"}[d.State]
		containers = append(containers, []string{id, d.Name, mode})
		times = append(times, []string{id, fmt.Sprint(d.BusyMs * 1000)})
		for _, on := range []struct {
			split, wait string
			sessions    int64
		}{
			{"active", "", d.Sessions.Active},
			{"idle", "Idle", d.Sessions.Idle},
			{"in transaction", "Idle", d.Sessions.InTransaction},
			{"waiting", "Application", d.Sessions.Waiting},
			{"other", "Idle", d.Sessions.Other},
		} {
			if on.sessions > 0 {
				sessions = append(sessions, []string{id, on.split, on.wait, fmt.Sprint(on.sessions)})
			}
		}
		for _, one := range d.Statements {
			sql := sqlID(one.Of)
			statements = append(statements, []string{"0", id, sql, fmt.Sprint(one.Of), "7", fmt.Sprint(one.Calls), fmt.Sprint(one.Ms * 1000)})
			births = append(births, []string{"0", id, sql, "7", sc.local(one.Born.Add(-s.Ahead).Truncate(time.Second))})
			texts = append(texts, []string{sql, one.Text})
		}
	}
	for _, answer := range []struct {
		view, query string
		rows        [][]string
	}{
		{"V$CONTAINERS", containersQuery, containers},
		{"V$SESSION", sessionsQuery, sessions},
		{"V$SQLSTATS_PLAN_HASH", statementsQuery, statements},
		{"V$SQL", birthsQuery, births},
		{"V$CON_SYS_TIME_MODEL", dbTimeQuery, times},
		{"V$CON_SYSSTAT", deadlocksQuery, nil},
		{"V$SQLSTATS_PLAN_HASH", textsQuery, texts},
	} {
		if s.Taken[answer.view] {
			sc.deny(answer.query)
		} else {
			sc.on(answer.query, answer.rows...)
		}
	}
}
