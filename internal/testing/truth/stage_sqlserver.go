package truth

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/servers/serverstest"
)

// sqlServerSplits are what the query of the sessions calls states.
var sqlServerSplits = map[measurements.State]string{
	measurements.OnCPU: "active", measurements.Waits: "waiting", measurements.Idle: "idle", measurements.IdleInTransaction: "in transaction",
}

// staged answers from the stage, as the comments of the queries say.
func (s *SQLServer) staged() answers {
	return answers{
		"-- SQL Server 2016+ and Azure SQL: the sessions of clients by database, by what they do and by what they wait for.": s.seen(fleet.SQLServer, func() [][]string {
			return s.stage.grouped(func(a *actor) []string {
				return []string{"5", sqlServerSplits[a.does], a.waits.sqlServer, "", a.application, a.application, "app01", serverstest.Null}
			})
		}),
		"-- SQL Server 2016+ and Azure SQL: who waits for whom, asked only while a session waits for a lock.": s.seen(fleet.SQLServer, s.whoWaits),
		"-- SQL Server 2016+ and Azure SQL: what became of a session that held others up, asked once when":    s.becameOf,
		"-- SQL Server 2016+ and Azure SQL: how many bytes of tempdb are used, by objects of users, by sorts and hashes, and by versions of rows.": s.seen(fleet.SQLServer, func() [][]string {
			return [][]string{{fmt.Sprint(s.stage.used)}}
		}),
		"-- SQL Server 2016+ and Azure SQL: counters since the server was started, and when that was: sessions that were begun, and pages that checkpoints wrote.": s.seen(fleet.SQLServer, func() [][]string {
			return [][]string{{"logins/sec", fmt.Sprint(s.stage.logins), "1"}}
		}),
		"-- SQL Server 2016+: how many deadlocks there were since the server was started, and what time it is in UTC.": s.seen(fleet.SQLServer, func() [][]string {
			return [][]string{{fmt.Sprint(s.stage.deadlocks), fmt.Sprint(s.now())}}
		}),
		"-- SQL Server 2016+: the newest reports of the server's own session system_health, among them those of deadlocks.": s.seen(fleet.SQLServer, func() [][]string {
			var events strings.Builder
			for _, at := range s.stage.reports {
				fmt.Fprintf(&events, deadlockReport, at.Format("2006-01-02T15:04:05.000Z"))
			}
			return [][]string{{`<RingBufferTarget>` + events.String() + `</RingBufferTarget>`}}
		}),
	}
}

// seen answers unless the grants are taken away.
func (m *machine) seen(engine fleet.Engine, rows func() [][]string) func(string) ([][]string, error) {
	return func(string) ([][]string, error) {
		if m.denied {
			return nil, refused(engine, map[fleet.Engine]string{fleet.SQLServer: "300", fleet.Oracle: "ORA-00942"}[engine])
		}
		return rows(), nil
	}
}

// deadlockReport is one of an event session (SQL Server Deadlocks Guide), with its time left open.
const deadlockReport = `<event name="xml_deadlock_report" package="sqlserver" timestamp="%s"><data name="xml_report"><value><deadlock>` +
	`<victim-list><victimProcess id="p1"/></victim-list><process-list>` +
	`<process id="p1" spid="51" currentdb="5" clientapp="one" waittime="900"><executionStack/><inputbuf/></process>` +
	`<process id="p2" spid="52" currentdb="5" clientapp="two" waittime="900"><executionStack/><inputbuf/></process></process-list><resource-list>` +
	`<keylock><owner-list><owner id="p2"/></owner-list><waiter-list><waiter id="p1"/></waiter-list></keylock>` +
	`<keylock><owner-list><owner id="p1"/></owner-list><waiter-list><waiter id="p2"/></waiter-list></keylock>` +
	`</resource-list></deadlock></value></data></event>`

// signedIn is when a session began, by local time.
const signedIn = "2026-11-16T08:00:00"

func (s *SQLServer) session(id int) string { return strconv.Itoa(id) }

// whoWaits are the requests that wait for a lock of another session, and who is waited for.
func (s *SQLServer) whoWaits() (rows [][]string) {
	for _, a := range s.stage.actors {
		if !a.blocked() && !s.stage.holds(a.id) {
			continue
		}
		waits := a.blocked()
		open := waits || a.does != measurements.Idle
		status := map[bool]string{true: "sleeping", false: "running"}[a.does == measurements.Idle || a.does == measurements.IdleInTransaction]
		row := []string{fmt.Sprint(a.id), signedIn, a.application, a.application, "app01", "5", status, bit[open], bit[!a.own],
			"0", serverstest.Null, "0", "", serverstest.Null, serverstest.Null, serverstest.Null}
		if waits {
			row[9], row[10], row[11], row[12] = fmt.Sprint(a.behind), a.waits.sqlServer, fmt.Sprint(s.stage.waited(a).Milliseconds()), a.waits.resource
		}
		if status == "sleeping" {
			row[15] = fmt.Sprint(s.stage.waited(a).Milliseconds())
		}
		rows = append(rows, row)
	}
	for i := range rows {
		rows[i] = append(rows[i], strconv.Itoa(len(rows)))
	}
	return rows
}

var sqlServerSession = regexp.MustCompile(`s\.session_id = (\d+)`)

func (s *SQLServer) becameOf(statement string) ([][]string, error) {
	id, err := strconv.Atoi(sqlServerSession.FindStringSubmatch(statement)[1])
	if err != nil {
		return nil, err
	}
	a := s.stage.find(id)
	if a == nil {
		return nil, nil
	}
	return [][]string{{signedIn, bit[a.does != measurements.Idle]}}, nil
}

// bit is how a server writes whether something is so.
var bit = map[bool]string{true: "1", false: "0"}

// grouped are the clients' sessions, those that do the same in one row, which has their number fourth.
func (s *stage) grouped(as func(*actor) []string) (rows [][]string) {
	counts := map[string]int{}
	var order []string
	for _, a := range s.actors {
		if a.own {
			continue
		}
		key := strings.Join(as(a), "\x1f")
		if counts[key]++; counts[key] == 1 {
			order = append(order, key)
		}
	}
	for _, key := range order {
		row := strings.Split(key, "\x1f")
		row[3] = strconv.Itoa(counts[key])
		rows = append(rows, row)
	}
	return rows
}

// waited is for how long an actor has done what it does.
func (s *stage) waited(a *actor) time.Duration { return s.clock.Now().Sub(a.since) }
