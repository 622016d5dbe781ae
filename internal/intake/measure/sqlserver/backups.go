package sqlserver

import (
	"context"
	"strconv"
	"strings"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/measurements/backups"
	"muster/internal/servers"
)

const (
	// firstBackups is how far back the first look goes, in hours. Later ones go back to the look before.
	firstBackups = 35 * 24
	simple       = "3" // sys.databases.recovery_model
)

// Backups reads what msdb knows. Azure SQL Database keeps its backups to itself.
func (r *reader) Backups(ctx context.Context, l *measure.Line, at time.Time) (*backups.Look, error) {
	if r.server.azure() {
		return nil, nil
	}
	hours := firstBackups
	if r.backedUp.on == l.Session {
		hours = min(hours, int(at.Sub(r.backedUp.at).Hours())+2)
	}
	look := &backups.Look{At: at, Source: backups.MSDB, Condition: backups.Works}
	rows, err := servers.Query(ctx, l, 9, strings.ReplaceAll(query("backups"), "@hours", strconv.Itoa(hours)))
	if servers.ReasonOf(err) == servers.Denied {
		look.Condition, look.Why = backups.Unknown, "Muster's login may not read msdb.dbo.backupset."
		look.Denied = "USE msdb; CREATE USER " + r.server.login + " FOR LOGIN " + r.server.login + "; GRANT SELECT ON dbo.backupset TO " + r.server.login + ";"
		return look, nil
	}
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if err := addBackup(look, row); err != nil {
			return nil, err
		}
	}
	r.backedUp.on, r.backedUp.at = l.Session, at
	return look, nil
}

// addBackup adds a row: a database, and perhaps its newest backup of a type.
func addBackup(look *backups.Look, row []string) error {
	created, err := strconv.ParseInt(row[1], 10, 64)
	if err != nil || row[0] == "" {
		return measure.ErrNonsense
	}
	seen := len(look.Complete) > 0 && look.Complete[len(look.Complete)-1].Name == row[0]
	if !seen && row[3] == "0" { // of one in an availability group, other replicas may have made the backups
		since := look.At.Add(-min(time.Duration(created)*time.Second, firstBackups*time.Hour))
		look.Complete = append(look.Complete, backups.Database{Name: row[0], Since: since, NoLog: row[2] == simple})
	}
	kind, known := map[string]backups.Kind{"D": backups.Full, "I": backups.Differential, "L": backups.Log}[row[4]]
	if !known {
		if row[4] == "" {
			return nil
		}
		return measure.ErrNonsense
	}
	ago, err1 := strconv.ParseInt(row[5], 10, 64)
	took, err2 := strconv.ParseInt(row[6], 10, 64)
	if err1 != nil || err2 != nil {
		return measure.ErrNonsense
	}
	if ago > created { // of another database that had its name
		return nil
	}
	b := backups.Backup{Name: row[0], Kind: kind, FinishedAt: look.At.Add(-time.Duration(ago) * time.Second), Tool: "BACKUP"}
	if started := b.FinishedAt.Add(-time.Duration(took) * time.Second); took >= 0 {
		b.StartedAt = &started
	}
	if size, err := strconv.ParseInt(row[7], 10, 64); err == nil {
		b.SizeBytes = &size
	}
	if row[8] == "1" {
		b.Tool = "snapshot"
	}
	look.Backups = append(look.Backups, b)
	return nil
}
