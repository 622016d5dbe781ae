package watch

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/instant"
	"muster/domain/organization"
	"muster/internal/measurements"
)

// pileUp is for how long sessions may wait for a lock where many do.
const pileUp, many = 90 * time.Second, 10

// What to do about sessions, by engine.
const (
	endsASession = "PostgreSQL: pg_terminate_backend; SQL Server: KILL; Oracle: ALTER SYSTEM KILL SESSION"
	holdsTheLock = "Find the session that holds the lock: Activity, Blocking has it first, with the sessions behind it. " +
		"End it if its work is no longer needed (" + endsASession + "). To end the sessions that wait does not help: the next ones wait, too."
)

// load are the rules about what sessions do.
func load() []Definition {
	return []Definition{
		{
			WatchRule: organization.WatchRule{
				ID: string(LockWait), Default: on(5, 0, alert.Warning), Min: 1, Max: maxMinutes,
				Org:       func(w *organization.Watch) *int { return &w.LockWaitMinutes },
				OrgChange: func(c *organization.ChangeSettings) **int { return &c.LockWaitMinutes },
			},
			Group: "Load", Name: "Session waits for a lock", Watches: "Longest current wait for a lock", Unit: "minutes",
			Sources: "Muster's own connections, agents",
			Meaning: "A session has waited for a lock for longer than the threshold, or ten or more sessions wait and one of them has waited for 90 seconds. " +
				"Waits for advisory locks raise a separate alert, because applications may hold such locks on purpose.",
			title: func(s Sign) string {
				if n := s.Details.Sessions; n > 1 {
					return fmt.Sprintf("%d sessions wait for %s, the longest for %s", n, s.Details.lock(s.Mount), lasting(s.Value))
				}
				return fmt.Sprintf("a session has waited %s for %s", lasting(s.Value), s.Details.lock(s.Mount))
			},
			beyond: func(s Sign, threshold float64) bool {
				if s.Details.Sessions >= many {
					threshold = min(threshold, pileUp.Minutes())
				}
				return s.Value > threshold
			},
			least:  func(threshold float64) float64 { return min(threshold, pileUp.Minutes()) },
			Advice: holdsTheLock,
		},
		{
			WatchRule: organization.WatchRule{ID: string(Blocking), Default: off(many, 60, alert.Warning), Min: 1, Max: 10_000},
			Group:     "Load", Name: "Many blocked sessions", Watches: "Number of sessions that wait for locks", Unit: "sessions",
			Sources: "Muster's own connections, agents",
			Meaning: "Many sessions wait for locks at the same time. This rule counts the sessions; the rule \"Session waits for a lock\" judges " +
				"the longest of their waits.",
			title:  func(s Sign) string { return sessions(int(s.Value)) + " wait for " + s.Details.lock(s.Mount) },
			Advice: holdsTheLock,
		},
		{
			WatchRule: organization.WatchRule{ID: string(LongTransaction), Default: on(60, 0, alert.Warning), Min: 1, Max: 30 * maxMinutes},
			Group:     "Load", Name: "Long transaction", Watches: "Age of the oldest open transaction", Unit: "minutes",
			Sources: "Muster's own connections, agents",
			Meaning: "A transaction has been open for a long time. It keeps its locks, and the server has to keep the old row versions that it may still read: " +
				"vacuum of PostgreSQL cannot remove them, the transaction log of SQL Server cannot be truncated, and the undo of Oracle grows.",
			Advice: "Find the session and the statement that it executes. The server's page names it, under Transactions and connections. " +
				"End it if its work is no longer needed (" + endsASession + "). Its work is rolled back, which may take as long as it took.",
			title: func(s Sign) string {
				return "a transaction" + s.Details.ofSession() + " has been open for " + lasting(s.Value)
			},
			figures: serverFigures(measurements.OldestTransaction, minutesOf),
		},
		{
			WatchRule: organization.WatchRule{ID: string(IdleInTransaction), Default: on(10, 0, alert.Warning), Min: 1, Max: 30 * maxMinutes},
			Group:     "Load", Name: "Idle in transaction", Watches: "Longest idle time of a session in an open transaction", Unit: "minutes",
			Sources: "Muster's own connections, agents",
			Meaning: "An application opened a transaction and does not continue it. Other sessions may wait for its locks, and the server has to keep the old row versions that it may still read.",
			Advice: "Find the application, and end the session if its work is no longer needed. A timeout for idle transactions prevents the next case " +
				"(PostgreSQL: idle_in_transaction_session_timeout; Oracle from 21c on: MAX_IDLE_BLOCKER_TIME). SQL Server has none: there the application " +
				"has to close the transaction, also after a timeout of its own (SET XACT_ABORT ON).",
			title: func(s Sign) string {
				return "a session" + s.Details.ofSession() + " has been idle in a transaction for " + lasting(s.Value)
			},
			figures: serverFigures(measurements.OldestIdle, minutesOf),
		},
		{
			WatchRule: organization.WatchRule{ID: string(Deadlocks), Default: on(4, 0, alert.Warning), Max: 10_000},
			Group:     "Load", Name: "Deadlocks", Watches: "Deadlocks in the last ten minutes", Unit: "deadlocks",
			Sources: "Muster's own connections, agents",
			Meaning: "Transactions waited for each other, and the server canceled one of them. Its work was rolled back, and the application has to repeat it.",
			Advice: "Activity, Blocking shows the sessions and statements of a deadlock if the server or a look told them. PostgreSQL's log has them (deadlock detected), " +
				"as have the session system_health of SQL Server (xml_deadlock_report) and the trace file that Oracle's alert log names (ORA-00060). " +
				"Let all transactions lock rows and tables in the same order.",
			title: func(s Sign) string {
				if s.Value == 1 {
					return "1 deadlock in ten minutes"
				}
				return fmt.Sprintf("%.0f deadlocks in ten minutes", s.Value)
			},
			figures: deadlocks,
		},
		{
			WatchRule: organization.WatchRule{ID: string(Connections), Default: on(90, 300, alert.Warning), Min: 1, Max: 100},
			Group:     "Load", Name: "Connections near the limit", Watches: "Share of the allowed client connections in use", Unit: "percent",
			Sources: "PostgreSQL: Muster's own connections, agents",
			Meaning: "Clients use nearly all of the connections that the server allows. At the limit, the server refuses new connections, including those of monitoring (error 53300 of PostgreSQL).",
			Advice: "The page Activity shows which applications hold the connections. End sessions that are idle in a transaction, add a connection pooler, " +
				"or raise max_connections, which needs a restart. A superuser can still connect (superuser_reserved_connections).",
			title: func(s Sign) string {
				said := tenths(s.Value) + " % of the connections are in use"
				if s.Details.Limit > 0 {
					said += fmt.Sprintf(" (%d of %d)", s.Details.Sessions, s.Details.Limit)
				}
				return said
			},
		},
		{
			WatchRule: organization.WatchRule{ID: string(TemporaryFiles), Default: off(1024, 300, alert.Info), Min: 1, Max: 1 << 20},
			Group:     "Load", Name: "Temporary files", Watches: "Data written to temporary files", Unit: "MB per minute",
			Sources: "Muster's own connections, agents",
			Meaning: "Statements sort or hash more data than fits into their memory, and write it to disk.",
			Advice: "Find the statements that write temporary files: the page Queries has them, and PostgreSQL logs them with log_temp_files. " +
				"Add an index, or give them more memory (PostgreSQL: work_mem, for their role or session only, because every sort may use as much).",
			title:   func(s Sign) string { return tenths(s.Value) + " MB of temporary files per minute" },
			figures: serverFigures(measurements.TemporaryBytes, megabytesAMinute),
		},
	}
}

// deadlocks are those of each server in a batch, with the time of each look that saw some: those that servers count by
// database, and those that SQL Server counts without telling of which. The sides of a deadlock are of one that is counted.
func deadlocks(b measurements.Batch) []Sign {
	at := map[uuid.UUID]*Sign{}
	add := func(instance uuid.UUID, look time.Time, n int64, of string) {
		sign := at[instance]
		if sign == nil {
			sign = &Sign{InstanceID: instance, At: look, Details: Details{Counts: []Count{}}}
			at[instance] = sign
		}
		sign.At = instant.Later(sign.At, look)
		if n > 0 {
			sign.Details.Counts = append(sign.Details.Counts, Count{look, n, of})
			sign.Value += float64(n)
		}
	}
	for _, s := range b.Sessions {
		if s.Deadlocks != nil {
			add(s.Instance, s.At, *s.Deadlocks, s.Database.String())
		}
	}
	for _, s := range b.Blocking {
		if s.Deadlock != nil && len(s.Nodes) == 0 {
			add(s.Instance, s.At, int64(s.Fit().Deadlock.Count), "")
		}
	}
	signs := make([]Sign, 0, len(at))
	for _, sign := range at {
		signs = append(signs, *sign)
	}
	return signs
}

// serverFigures are the signs of a figure of whole servers; of tells its value.
func serverFigures(figure measurements.Figure, of func(measurements.ServerFigure) float64) func(measurements.Batch) []Sign {
	return func(b measurements.Batch) (signs []Sign) {
		for _, sample := range b.Servers {
			for _, f := range sample.Figures {
				if f.Figure != figure || f.Database != uuid.Nil || f.Telling != measurements.Told {
					continue
				}
				sign := Sign{InstanceID: sample.Instance, At: sample.At, Value: of(f)}
				if f.Holder != nil {
					sign.Details.Session = f.Holder.Session
				}
				signs = append(signs, sign)
			}
		}
		return signs
	}
}

func minutesOf(f measurements.ServerFigure) float64 {
	return (time.Duration(f.Value) * time.Millisecond).Minutes()
}

func megabytesAMinute(f measurements.ServerFigure) float64 {
	return float64(f.Value) / 1e6 / max(f.Interval, time.Second).Minutes()
}
