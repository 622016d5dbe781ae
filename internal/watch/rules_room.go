package watch

import (
	"fmt"

	"muster/domain/alert"
	"muster/domain/organization"
)

// full is from where on a volume is not only nearly full.
const full = 95

// room are the rules about what runs out, and about care.
func room() []Definition {
	return []Definition{
		{
			WatchRule: organization.WatchRule{
				ID: string(Volume), Default: on(90, 0, alert.Warning), Min: 1, Max: 100,
				Org:       func(w *organization.Watch) *int { return &w.VolumePercent },
				OrgChange: func(c *organization.ChangeSettings) **int { return &c.VolumePercent },
			},
			Group: "Room and care", Name: "Volume nearly full", Watches: "How much of a volume is in use", Unit: "percent",
			Sources: "agents, exporters and feeds of hosts",
			Meaning: "A volume of the host is nearly full. A database server whose disk is full stops writing. From 95 % the alert is critical, unless the threshold is higher.",
			worse:   func(percent float64, s organization.WatchSetting) bool { return percent >= full && s.Threshold < full },
			title: func(s Sign) string {
				return fmt.Sprintf("%s is %s %% full", s.Details.volume(s.Mount), tenths(s.Value))
			},
			Advice: "Free space or enlarge the volume: a database server whose disk is full stops writing.",
		},
		{
			WatchRule: organization.WatchRule{ID: "days_until_full", Default: off(7, 0, alert.Warning), Min: 1, Max: 365, Unmeasured: noSource},
			Group:     "Room and care", Name: "Days until full", Watches: "Days until a volume is full at its present growth", Unit: "days", Below: true,
			Meaning: "At the growth of the last days the volume will be full soon.",
			Advice:  "Free space or enlarge the volume, and find out what grows.",
		},
		{
			WatchRule: organization.WatchRule{
				ID: string(Wraparound), Default: on(80, 0, alert.Critical), Min: 1, Max: 100,
				Org:       func(w *organization.Watch) *int { return &w.WraparoundPercent },
				OrgChange: func(c *organization.ChangeSettings) **int { return &c.WraparoundPercent },
			},
			Group: "Room and care", Name: "Transaction ids run out", Watches: "Age of the oldest transaction id or multixact id, on the way to wraparound", Unit: "percent",
			Sources: "PostgreSQL: Muster's own connections, agents",
			Meaning: "PostgreSQL stops accepting writes before its transaction ids wrap around. The databases with the oldest ids have to be vacuumed first.",
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
			Advice: "Vacuum the databases with the oldest transaction ids, after ending what holds them back: " +
				"long and prepared transactions, replication slots that nobody reads.",
		},
		{
			WatchRule: organization.WatchRule{ID: "failed_jobs", Default: off(0, 0, alert.Warning), Max: 1000, Unmeasured: noSource},
			Group:     "Room and care", Name: "Job failed", Watches: "Jobs of SQL Server Agent and Oracle's scheduler that failed in the last 24 hours", Unit: "jobs",
			Meaning: "A job of the server's own scheduler failed: a backup, an index or a statistics job may not have run.",
			Advice:  "Read the job's history, mend the cause and run it again.",
		},
	}
}
