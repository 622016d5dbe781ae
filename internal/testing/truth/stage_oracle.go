package truth

import (
	"fmt"
	"regexp"
	"strconv"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/servers/serverstest"
)

// idling is what a session waits for whose client says nothing.
var idling = wait{class: "Idle", event: "SQL*Net message from client"}

// staged answers from the stage, as the comments of the queries say.
func (o *Oracle) staged() answers {
	return answers{
		"-- Oracle 12.2+: the client sessions of each container by what they do and wait for. A": o.seen(fleet.Oracle, func() [][]string {
			return o.stage.grouped(func(a *actor) []string {
				split, waits := sqlServerSplits[a.does], a.waits
				if a.does == measurements.Idle || a.does == measurements.IdleInTransaction {
					waits = idling
				}
				row := []string{"3", split, waits.class, "", waits.event, a.application, a.application, "app01", serverstest.Null}
				if a.does == measurements.OnCPU {
					row[2], row[4] = serverstest.Null, serverstest.Null
				}
				return row
			})
		}),
		"-- Oracle 12.2+: who waits for whom, asked only while a session waits for what":                  o.seen(fleet.Oracle, o.whoWaits),
		"-- Oracle 12.2+: what became of a session that held others up, asked once when nobody waits any": o.becameOf,
		"-- Oracle 12.2+: counters since the instance was started: sessions that were begun, blocks": o.seen(fleet.Oracle, func() [][]string {
			return [][]string{{"logons cumulative", fmt.Sprint(o.stage.logins)}, {"physical writes direct temporary tablespace", fmt.Sprint(o.stage.written / block)}}
		}),
		"-- Oracle 12.2+: how many blocks of temporary tablespaces are used, by sorts, hashes and": o.seen(fleet.Oracle, func() [][]string {
			return [][]string{{fmt.Sprint(o.stage.used / block)}}
		}),
		"-- Oracle 12.2+: how many deadlocks between sessions each container had since its instance was started.": o.seen(fleet.Oracle, func() [][]string {
			return [][]string{{"0", "3", fmt.Sprint(o.stage.deadlocks)}}
		}),
	}
}

// session is an id as V$SESSION has it: of a session whose number was used a hundred times.
func (o *Oracle) session(id int) string { return fmt.Sprintf("%d,%d,1", id, 100+id) }

// whoWaits are the sessions whose blocker the server knows, and those blockers. An orphan is not known.
func (o *Oracle) whoWaits() (rows [][]string) {
	for _, a := range o.stage.actors {
		waits := a.blocked() && a.behind != orphan
		if (!waits || a.own) && !o.stage.holds(a.id) {
			continue
		}
		inactive := a.does == measurements.Idle || a.does == measurements.IdleInTransaction
		row := []string{fmt.Sprint(a.id), fmt.Sprint(100 + a.id), "1", "2026-11-16 08:00:00", a.application, a.application, "app01", "3",
			map[bool]string{true: "BACKGROUND", false: "USER"}[a.own], map[bool]string{true: "INACTIVE", false: "ACTIVE"}[inactive],
			bit[a.does != measurements.Idle], fmt.Sprint(int64(o.stage.waited(a).Seconds())), serverstest.Null,
			serverstest.Null, serverstest.Null, serverstest.Null, serverstest.Null, "0", idling.event, "0", "-1"}
		if waits {
			copy(row[13:], []string{fmt.Sprint(a.behind), "1", fmt.Sprint(o.lastOf(a)), "1", fmt.Sprint(o.stage.waited(a).Microseconds()), a.waits.event, "1415053318", "73421"})
		}
		rows = append(rows, row)
	}
	for i := range rows {
		rows[i] = append(rows[i], strconv.Itoa(len(rows)))
	}
	return rows
}

// lastOf is who is at the end of the chain in which an actor waits.
func (o *Oracle) lastOf(a *actor) int {
	for range o.stage.actors {
		next := o.stage.find(a.behind)
		if next == nil || !next.blocked() {
			return a.behind
		}
		a = next
	}
	return a.behind
}

var oracleSession = regexp.MustCompile(`s\.sid = (\d+)`)

func (o *Oracle) becameOf(statement string) ([][]string, error) {
	id, err := strconv.Atoi(oracleSession.FindStringSubmatch(statement)[1])
	if err != nil {
		return nil, err
	}
	a := o.stage.find(id)
	if a == nil {
		return nil, nil
	}
	return [][]string{{bit[a.does != measurements.Idle]}}, nil
}
