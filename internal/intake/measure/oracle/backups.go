package oracle

import (
	"context"
	_ "embed" // the queries
	"strconv"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/measurements/backups"
	"muster/internal/servers"
)

//go:embed sql/backup_jobs.sql
var backupJobsQuery string

//go:embed sql/backup_mode.sql
var backupModeQuery string

//go:embed sql/backup_elsewhere.sql
var backupElsewhereQuery string

// recentBackup is how old a backup of the whole database may be, before it is asked whether backups are elsewhere.
const recentBackup = 8 * 24 * time.Hour

// elsewhere says why nothing is known of backups, by what the query answers.
var elsewhere = map[string]string{
	"standby":   "Another database of the Data Guard configuration may take the backups.",
	"snapshots": "Amazon RDS takes the backups as snapshots, which are in no view.",
	"parts":     "RMAN backs up single pluggable databases or files, which may be all of them.",
}

// rmanDays is how far back RMAN's jobs are read.
const rmanDays = 35 * 24 * time.Hour

// Backups reads what RMAN's views say. They are of the whole database, with all of its containers: a
// pluggable database does not see them.
func (r *reader) Backups(ctx context.Context, l *measure.Line, at time.Time) (*backups.Look, error) {
	if err := r.meet(ctx, l.Session); err != nil {
		return nil, err
	}
	look := &backups.Look{At: at, Source: backups.RMAN, Condition: backups.Works}
	if r.self.multi && r.self.container != root {
		look.Condition, look.Why = backups.Unknown, "RMAN's views are in the root, and Muster is connected to a pluggable database."
		return look, nil
	}
	mode, err := servers.Row(ctx, l, 2, backupModeQuery)
	if !r.may("mode of the log", "V$DATABASE", &err) {
		return r.unread(look, "mode of the log", err)
	}
	created, err := strconv.ParseInt(mode[1], 10, 64)
	if err != nil || mode[0] == "" {
		return nil, measure.ErrNonsense
	}
	rows, err := servers.Query(ctx, l, 5, backupJobsQuery)
	if !r.may("jobs of RMAN", "V$RMAN_BACKUP_JOB_DETAILS", &err) {
		return r.unread(look, "jobs of RMAN", err)
	}
	failed, newest, whole := time.Duration(-1), time.Duration(-1), false
	for _, row := range rows {
		ago, well, err := addJob(look, row)
		if err != nil {
			return nil, err
		}
		if well && (newest < 0 || ago < newest) {
			newest = ago
		}
		whole = whole || well && row[0] != "ARCHIVELOG" && ago < recentBackup
		if !well && (failed < 0 || ago < failed) {
			failed = ago
		}
	}
	if failed >= 0 && (newest < 0 || failed < newest) {
		look.Condition, look.Why = backups.Failing, "RMAN's last job failed."
	}
	noLog := mode[0] == "NOARCHIVELOG"
	if !whole && !noLog && look.Condition == backups.Works { // without archived redo, nobody can take one elsewhere
		rows, err := servers.Query(ctx, l, 1, backupElsewhereQuery)
		if !r.may("backups elsewhere", "V$PARAMETER", &err) {
			return r.unread(look, "backups elsewhere", err)
		}
		if len(rows) > 0 {
			look.Condition, look.Why = backups.Unknown, elsewhere[rows[0][0]]
			return look, nil
		}
	}
	look.Complete = []backups.Database{{Since: at.Add(-min(time.Duration(created)*time.Second, rmanDays)), NoLog: noLog}}
	return look, nil
}

// unread is a look that lacks a grant, or none.
func (r *reader) unread(look *backups.Look, part string, err error) (*backups.Look, error) {
	if err != nil {
		return nil, err
	}
	lacking := r.lacking[part]
	look.Condition, look.Why, look.Denied = backups.Unknown, "Muster's account may not read "+lacking.Object+".", lacking.Statement
	return look, nil
}

// addJob adds a job that ended well, and says how long ago it ended.
func addJob(look *backups.Look, row []string) (ago time.Duration, well bool, err error) {
	seconds, err1 := strconv.ParseInt(row[2], 10, 64)
	took, err2 := strconv.ParseInt(row[3], 10, 64)
	if err1 != nil || err2 != nil {
		return 0, false, measure.ErrNonsense
	}
	ago, well = time.Duration(seconds)*time.Second, row[1] == "1"
	if !well {
		return ago, false, nil
	}
	b := backups.Backup{FinishedAt: look.At.Add(-ago), Tool: "RMAN"}
	switch row[0] {
	case "ARCHIVELOG":
		b.Kind = backups.Log
	case "DB FULL":
		b.Kind = backups.Full
	case "DB INCR": // where there is no backup of level 0, RMAN makes one first: it can be restored
		b.Kind, b.Tool = backups.Full, "RMAN incremental"
	default:
		return 0, false, measure.ErrNonsense
	}
	if took >= 0 {
		started := b.FinishedAt.Add(-time.Duration(took) * time.Second)
		b.StartedAt = &started
	}
	if size, err := strconv.ParseInt(row[4], 10, 64); err == nil {
		b.SizeBytes = &size
	}
	look.Backups = append(look.Backups, b)
	return ago, true, nil
}
