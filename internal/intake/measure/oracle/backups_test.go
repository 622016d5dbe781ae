package oracle

import (
	"strings"
	"testing"
	"time"

	"muster/internal/measurements/backups"
)

// TestBackupsOfRMAN holds the reader to what rows of RMAN's views say.
func TestBackupsOfRMAN(t *testing.T) {
	t.Parallel()
	look := func(t *testing.T, change func(*scene)) backups.Look {
		t.Helper()
		s := newScene(t)
		change(s)
		b := s.pass(0)
		if len(b.Backups) != 1 || b.Backups[0].Source != backups.RMAN {
			t.Fatalf("%+v", b.Backups)
		}
		return b.Backups[0]
	}
	well := func(kind, ago string) []string { return []string{kind, "1", ago, "600", "4096"} }
	t.Run("the newest of each kind", func(t *testing.T) {
		t.Parallel()
		l := look(t, func(s *scene) { s.backups(well("DB FULL", "90000"), well("DB INCR", "3600"), well("ARCHIVELOG", "60")) })
		if len(l.Backups) != 3 || l.Condition != backups.Works || len(l.Complete) != 1 || l.Complete[0].NoLog || !l.Complete[0].Since.Equal(l.At.Add(-35*24*time.Hour)) {
			t.Fatalf("%+v", l)
		}
		for i, want := range []struct {
			kind backups.Kind
			ago  time.Duration
			tool string
		}{{backups.Full, 25 * time.Hour, "RMAN"}, {backups.Full, time.Hour, "RMAN incremental"}, {backups.Log, time.Minute, "RMAN"}} {
			b := l.Backups[i]
			if b.Kind != want.kind || b.Tool != want.tool || !b.FinishedAt.Equal(l.At.Add(-want.ago)) || *b.SizeBytes != 4096 || !b.StartedAt.Equal(b.FinishedAt.Add(-10*time.Minute)) {
				t.Errorf("%+v", b)
			}
		}
	})
	t.Run("a job failed after the last good one", func(t *testing.T) {
		t.Parallel()
		l := look(t, func(s *scene) { s.backups(well("DB FULL", "90000"), []string{"DB FULL", "0", "3600", "60", null}) })
		if l.Condition != backups.Failing || l.Why != "RMAN's last job failed." || len(l.Backups) != 1 {
			t.Errorf("%+v", l)
		}
	})
	t.Run("a job failed before the last good one", func(t *testing.T) {
		t.Parallel()
		if l := look(t, func(s *scene) { s.backups(well("DB FULL", "900"), []string{"DB FULL", "0", "3600", "60", null}) }); l.Condition != backups.Works {
			t.Errorf("%+v", l)
		}
	})
	t.Run("no backup, and no archived redo", func(t *testing.T) {
		t.Parallel()
		l := look(t, func(s *scene) {
			s.backups()
			s.on(backupModeQuery, []string{"NOARCHIVELOG", "3600"})
		})
		if len(l.Backups) != 0 || !l.Complete[0].NoLog || !l.Complete[0].Since.Equal(l.At.Add(-time.Hour)) {
			t.Errorf("%+v", l)
		}
	})
	t.Run("a pluggable database does not see them", func(t *testing.T) {
		t.Parallel()
		l := look(t, func(s *scene) {
			s.self("3", "ERP", "ORCL", "MUSTER")
			s.on(containersQuery, []string{"3", "ERP", "READ WRITE"})
		})
		if l.Condition != backups.Unknown || len(l.Complete) != 0 {
			t.Errorf("%+v", l)
		}
	})
	for code, why := range map[string]string{"standby": "Data Guard", "snapshots": "Amazon RDS", "parts": "single pluggable databases"} {
		t.Run("F41 "+code, func(t *testing.T) {
			t.Parallel()
			there := func(s *scene) { s.on(backupElsewhereQuery, []string{code}) }
			l := look(t, func(s *scene) { s.backups(well("DB FULL", "2000000"), well("ARCHIVELOG", "60")); there(s) })
			if l.Condition != backups.Unknown || !strings.Contains(l.Why, why) || len(l.Complete) != 0 || len(l.Backups) != 2 {
				t.Errorf("none of late: %+v", l)
			}
			l = look(t, func(s *scene) { s.backups(well("DB INCR", "90000")); there(s) })
			if l.Condition != backups.Works || len(l.Complete) != 1 {
				t.Errorf("one of late: %+v", l)
			}
			l = look(t, func(s *scene) { s.backups([]string{"DB FULL", "0", "3600", "60", null}); there(s) })
			if l.Condition != backups.Failing || len(l.Complete) != 1 {
				t.Errorf("one that failed: %+v", l)
			}
			l = look(t, func(s *scene) { s.on(backupModeQuery, []string{"NOARCHIVELOG", "3600"}); there(s) })
			if l.Condition != backups.Works || !l.Complete[0].NoLog {
				t.Errorf("without archived redo: %+v", l)
			}
		})
	}
	for name, c := range map[string]struct{ query, view, grant string }{
		"the mode is not granted":        {backupModeQuery, "V$DATABASE", `GRANT SELECT ON SYS.V_$DATABASE TO "C##MUSTER";`},
		"the jobs are not granted":       {backupJobsQuery, "V$RMAN_BACKUP_JOB_DETAILS", `GRANT SELECT ON SYS.V_$RMAN_BACKUP_JOB_DETAILS TO "C##MUSTER";`},
		"the parameters are not granted": {backupElsewhereQuery, "V$PARAMETER", `GRANT SELECT ON SYS.V_$PARAMETER TO "C##MUSTER";`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.backups()
			s.deny(c.query)
			b := s.pass(0)
			if len(b.Backups) != 1 || b.Backups[0].Condition != backups.Unknown || len(b.Backups[0].Complete) != 0 || b.Backups[0].Denied != c.grant {
				t.Errorf("%+v", b.Backups)
			}
			if want := c.view + ": " + c.grant; s.lacking() != want {
				t.Errorf("lacks %q", s.lacking())
			}
		})
	}
}
