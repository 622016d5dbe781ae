package ingest

import (
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/intake/feed"
	"muster/internal/measurements/backups"
)

func backupItems(body *api.BackupBatch) []feed.BackupItem {
	return wire.List(body.Backups, func(b api.SentBackup) feed.BackupItem {
		return feed.BackupItem{
			Instance: b.Instance, Database: wire.Value(b.Database), Kind: backups.Kind(b.Kind), StartedAt: b.StartedAt, FinishedAt: b.FinishedAt,
			SizeBytes: b.SizeBytes, Tool: wire.Value(b.Tool),
		}
	})
}

// backupLook is what a source says, as an agent sends it.
func backupLook(l api.BackupLook) feed.BackupLook {
	return feed.BackupLook{Instance: l.Instance, Look: backups.Look{
		At: l.At, Source: backups.Source(l.Source), Condition: backups.Condition(l.Condition), Why: wire.Value(l.Why), Denied: wire.Value(l.Denied),
		Backups: wire.List(wire.Value(l.Backups), func(b api.LookedBackup) backups.Backup {
			return backups.Backup{
				Name: wire.Value(b.Database), Kind: backups.Kind(b.Kind), StartedAt: b.StartedAt, FinishedAt: b.FinishedAt, SizeBytes: b.SizeBytes, Tool: wire.Value(b.Tool),
			}
		}),
		Complete: wire.List(wire.Value(l.Complete), func(d api.BackedUpDatabase) backups.Database {
			return backups.Database{Name: wire.Value(d.Database), Since: d.Since, NoLog: wire.Value(d.NoLog)}
		}),
	}}
}
