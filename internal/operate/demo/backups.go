package demo

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/domain/fleet"
	"muster/internal/measurements/backups"
	"muster/internal/operate/demo/inspected"
	"muster/internal/operate/demo/nights"
)

const (
	// staleServer and neglectedServer have had no backup for so long when somebody first looks, and never get another.
	staleServer, neglectedServer = "demo-pg-legacy-01", "demo-mssql-erp-02"
	staleFor, neglectedFor       = 3 * day, 41 * day
	// unarchivedServer archives no WAL since the assessment of the day before, which says so.
	unarchivedServer = "demo-pg-billing-01"
)

// unsaved are the rules whose alerts say that there is no backup, and for how long there was none when they begin.
// Those of a night are about the backup that was due in it.
var unsaved = map[string]time.Duration{
	"base-backup": 0, "backup": 0, "full-disk-backup": 0, "full-backup": 24 * time.Hour, "ongoing-backup": warned,
}

// warned is how much later an alert may begin that says so of now.
const warned = 26 * time.Hour

// unlogged are those of the log.
var unlogged = map[string]time.Duration{"log-backup": time.Hour, "wal-archiving": 10 * time.Minute}

// lastBackup is the end of a server's last backup; zero: it has one each night.
func lastBackup(server string, made time.Time) time.Time {
	var ago time.Duration
	switch server {
	case staleServer:
		ago = staleFor
	case neglectedServer:
		ago = neglectedFor
	default:
		return time.Time{}
	}
	return made.Add(-ago).UTC().Truncate(day).Add(nights.Ends)
}

// backedUp is what is told of backups at a time, as alerts and assessments tell it.
func backedUp(made time.Time, there []inventory.IDs, at time.Time) (looks []backups.Look) {
	alerts := episodes(made, at.Add(warned))
	for _, s := range servers() {
		of := slices.IndexFunc(there, func(p inventory.IDs) bool { return p.ExternalID == s.Name })
		if of < 0 || len(s.Volumes) == 0 {
			continue
		}
		look := backups.Look{Instance: there[of].ID, At: at, Source: backups.Feed, Condition: backups.Works}
		subjects := []nights.Subject{{Whole: backups.Full, Logs: backups.Log, Tool: "nightly-backup.sh"}}
		switch s.Engine {
		case fleet.PostgreSQL:
			subjects[0] = nights.Subject{Whole: backups.Base, Logs: backups.WAL, Tool: "pg_basebackup"}
		case fleet.SQLServer:
			for _, d := range there[of].Databases {
				subjects = append(subjects, nights.Subject{Database: d.ID, Name: d.ExternalID, Whole: backups.Full, Logs: backups.Log, Tool: "nightly-backup.sh"})
			}
			subjects = subjects[min(1, len(subjects)-1):]
		case fleet.Oracle, fleet.MongoDB, fleet.MySQL:
		}
		for _, subject := range subjects {
			if subject.Last = lastBackup(s.Name, made); s.Name == unarchivedServer {
				look.Condition, look.Why = backups.Failing, "archive_command fails."
				subject.LogFailed = append(subject.LogFailed, nights.Between{From: inspected.At(made, 1).Add(-time.Hour), Until: at.Add(day)})
			}
			for _, name := range s.Databases {
				if subject.Database == uuid.Nil || subject.Name == name {
					subject.Bytes += int64(inspected.Of(s.Name).Bytes(name, made, at) * 0.4) // compressed
				}
			}
			for _, e := range alerts {
				if e.server == s.Name && (e.database == "" || subject.Name == "" || e.database == subject.Name) {
					e.unsaves(&subject)
				}
			}
			look.Backups = append(look.Backups, subject.Of(at)...)
		}
		looks = append(looks, look)
	}
	return looks
}

// unsaves notes the time in which an alert says that there is no backup.
func (e episode) unsaves(s *nights.Subject) {
	if before, ok := unsaved[e.rule]; ok {
		from := e.starts.Add(-before)
		if before == 0 {
			from = e.starts.Truncate(day)
		}
		s.Failed = append(s.Failed, nights.Between{From: from, Until: e.ends})
	}
	if before, ok := unlogged[e.rule]; ok {
		s.LogFailed = append(s.LogFailed, nights.Between{From: e.starts.Add(-before), Until: e.ends})
	}
}
