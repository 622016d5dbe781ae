package demo

import (
	"strings"
	"time"

	"muster/commands/inventory"
	"muster/internal/measurements/backups"
)

const (
	// staleServer has had no backup for staleFor when somebody first looks, and never gets another.
	staleServer = "demo-pg-legacy-01"
	staleFor    = 3 * day
	backupEnds  = 2*time.Hour + 41*time.Minute // when backups of the night end
	tookBackup  = 31 * time.Minute
)

// backedUp is what is told of backups at a time: of each server one in each of the last 30 nights, and of its log every
// quarter of an hour.
func backedUp(made time.Time, there []inventory.IDs, at time.Time) (looks []backups.Look) {
	for i, p := range there {
		look := backups.Look{Instance: p.ID, At: at, Source: backups.Feed, Condition: backups.Works}
		whole, log, tool := backups.Full, backups.Log, "nightly-backup.sh"
		if strings.HasPrefix(p.ExternalID, "demo-pg") {
			whole, log, tool = backups.Base, backups.WAL, "pg_basebackup"
		}
		last := at
		if p.ExternalID == staleServer {
			last = made.Add(-staleFor)
		}
		for night := range 31 {
			finished := at.UTC().Truncate(day).Add(-time.Duration(night)*day + backupEnds)
			started, size := finished.Add(-tookBackup), int64(40+13*i)<<30
			if !finished.After(last) {
				look.Backups = append(look.Backups, backups.Backup{Kind: whole, StartedAt: &started, FinishedAt: finished, SizeBytes: &size, Tool: tool})
			}
		}
		if last.Equal(at) {
			look.Backups = append(look.Backups, backups.Backup{Kind: log, FinishedAt: at.Truncate(15 * time.Minute)})
		}
		looks = append(looks, look)
	}
	return looks
}
