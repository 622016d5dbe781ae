package watch

import (
	"fmt"
	"math"

	"muster/domain/alert"
	"muster/domain/organization"
)

// full is from where on a volume is not only nearly full.
const full = 95

// room are the rules about capacity and maintenance.
func room() []Definition {
	return []Definition{
		{
			WatchRule: organization.WatchRule{
				ID: string(Volume), Default: on(90, 0, alert.Warning), Min: 1, Max: 100,
				Org:       func(w *organization.Watch) *int { return &w.VolumePercent },
				OrgChange: func(c *organization.ChangeSettings) **int { return &c.VolumePercent },
			},
			Group: "Capacity and maintenance", Name: "Volume nearly full", Watches: "Share of a volume in use", Unit: "percent",
			Sources: "agents, exporters and feeds of hosts",
			Meaning: "A volume of the host is nearly full. A database server whose disk is full stops writing. From 95 % the alert is critical, unless the threshold is higher.",
			worse:   func(percent float64, s organization.WatchSetting) bool { return percent >= full && s.Threshold < full },
			title: func(s Sign) string {
				return fmt.Sprintf("%s is %s %% full", s.Details.volume(s.Mount), tenths(s.Value))
			},
			Advice: "Free space or enlarge the volume: a database server whose disk is full stops writing. Look first for a log that something holds back: " +
				"in PostgreSQL a failing archiver or a replication slot without a consumer (do not delete files of pg_wal), " +
				"in SQL Server log_reuse_wait_desc of sys.databases, in Oracle the recovery area (V$RECOVERY_AREA_USAGE).",
		},
		{
			WatchRule: organization.WatchRule{ID: string(FullIn), Default: off(7, 0, alert.Warning), Min: 1, Max: 365},
			Group:     "Capacity and maintenance", Name: "Days until full", Watches: "Days until a volume, tablespace or filegroup is full at its current growth", Unit: "days", Below: true,
			Sources: "agents, exporters and feeds of hosts; SQL Server and Oracle: Muster's own connections, agents; from seven days on",
			Meaning: "It will be full soon if it keeps growing as in the last days. What rises and falls, or whose growth is in doubt, has no date and raises no alert.",
			title: func(s Sign) string {
				return s.Details.volume(s.Mount) + " will be full " + inDays(s.Value)
			},
			Advice: "Find out what grows: the server's page, Capacity, has the growth of each database. Free space, or enlarge what fills.",
		},
		{
			WatchRule: organization.WatchRule{
				ID: string(Wraparound), Default: on(80, 0, alert.Critical), Min: 1, Max: 100,
				Org:       func(w *organization.Watch) *int { return &w.WraparoundPercent },
				OrgChange: func(c *organization.ChangeSettings) **int { return &c.WraparoundPercent },
			},
			Group: "Capacity and maintenance", Name: "Transaction id wraparound", Watches: "Share of transaction ids or multixact ids used before wraparound", Unit: "percent",
			Sources: "PostgreSQL: Muster's own connections, agents",
			Meaning: "The server is running out of transaction ids. PostgreSQL stops accepting writes shortly before the ids wrap around, until the oldest ones are vacuumed.",
			title: func(s Sign) string {
				said := tenths(s.Value) + " % of the transaction ids"
				if s.Details.Multi {
					said = tenths(s.Value) + " % of the multixact ids"
				}
				if s.Details.Database != "" {
					said += " of database " + s.Details.Database
				}
				return said + " are used up"
			},
			Advice: "First end what holds vacuum back: long and prepared transactions, and replication slots without a consumer. " +
				"Then vacuum the databases with the oldest transaction ids.",
		},
		{
			WatchRule: organization.WatchRule{ID: string(FailedJobs), Default: off(0, 0, alert.Warning), Max: 1000},
			Group:     "Capacity and maintenance", Name: "Failed jobs", Watches: "Runs of jobs of SQL Server Agent and Oracle Scheduler that failed in the last 24 hours", Unit: "jobs",
			Sources: "SQL Server and Oracle: Muster's own connections, agents",
			title: func(s Sign) string {
				n := int(s.Value)
				if n == 1 {
					return "a job failed in the last 24 hours"
				}
				return fmt.Sprintf("%d runs of jobs failed in the last 24 hours", n)
			},
			Meaning: "A job of the server's own scheduler failed. It may be a backup, or the maintenance of indexes or statistics.",
			Advice: "Read the history of the job, fix the cause, and run the job again. The server's page, Maintenance, names the jobs that failed " +
				"(SQL Server: msdb.dbo.sysjobhistory; Oracle: DBA_SCHEDULER_JOB_RUN_DETAILS).",
		},
	}
}

// inDays is in how many days something happens.
func inDays(days float64) string {
	switch n := int(math.Ceil(days)); {
	case days <= 0:
		return "at any time"
	case n == 1:
		return "within a day"
	default:
		return fmt.Sprintf("in %d days", n)
	}
}
