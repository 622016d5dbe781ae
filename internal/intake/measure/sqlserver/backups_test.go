package sqlserver

import (
	"slices"
	"testing"
	"time"

	"muster/internal/measurements/backups"
	"muster/internal/servers/tdstest"
)

// aBackup is a row of database app, which has been there for 100 days: its newest backup of a type.
func aBackup(kind string, ago int) row { return row{"app", 8_640_000, 1, 0, kind, ago, 600, 4096, 0} }

// TestBackupsOfMSDB holds the reader to what rows of msdb say.
func TestBackupsOfMSDB(t *testing.T) {
	t.Parallel()
	look := func(t *testing.T, rows ...row) backups.Look {
		t.Helper()
		f := newFake(t)
		f.backups = rows
		b := f.measure(t).well()
		if len(b.Backups) != 1 || b.Backups[0].Source != backups.MSDB {
			t.Fatalf("%+v", b.Backups)
		}
		return b.Backups[0]
	}
	t.Run("the newest of each type", func(t *testing.T) {
		t.Parallel()
		l := look(t, aBackup("D", 30*3600), aBackup("I", 6*3600), aBackup("L", 300))
		if len(l.Backups) != 3 || len(l.Complete) != 1 || l.Complete[0].NoLog || l.Condition != backups.Works {
			t.Fatalf("%+v", l)
		}
		for i, want := range []struct {
			kind backups.Kind
			ago  time.Duration
		}{{backups.Full, 30 * time.Hour}, {backups.Differential, 6 * time.Hour}, {backups.Log, 5 * time.Minute}} {
			b := l.Backups[i]
			if b.Kind != want.kind || !b.FinishedAt.Equal(l.At.Add(-want.ago)) || !b.StartedAt.Equal(b.FinishedAt.Add(-10*time.Minute)) || *b.SizeBytes != 4096 || b.Name != "app" || b.Tool != "BACKUP" {
				t.Errorf("%+v", b)
			}
		}
	})
	t.Run("a database without a backup", func(t *testing.T) {
		t.Parallel()
		none := row{"app", 86_400, 3, 0, nil, nil, nil, nil, nil}
		l := look(t, none, row{"crm", 8_640_000, 1, 0, nil, nil, nil, nil, nil})
		if len(l.Backups) != 0 || len(l.Complete) != 2 || !l.Complete[0].NoLog || !l.Complete[0].Since.Equal(l.At.Add(-24*time.Hour)) {
			t.Errorf("%+v", l)
		}
		if since := l.Complete[1].Since; !since.Equal(l.At.Add(-35 * 24 * time.Hour)) {
			t.Errorf("older backups were not asked for: %s", since)
		}
	})
	t.Run("in an availability group", func(t *testing.T) {
		t.Parallel()
		if l := look(t, row{"app", 8_640_000, 1, 1, nil, nil, nil, nil, nil}); len(l.Complete) != 0 {
			t.Errorf("another replica may have its backups: %+v", l.Complete)
		}
	})
	t.Run("a snapshot", func(t *testing.T) {
		t.Parallel()
		one := aBackup("D", 60)
		one[8] = 1
		if l := look(t, one); l.Backups[0].Tool != "snapshot" {
			t.Errorf("%+v", l.Backups)
		}
	})
	t.Run("of another database that had the name", func(t *testing.T) {
		t.Parallel()
		one := aBackup("D", 7200)
		one[1] = 3600
		if l := look(t, one); len(l.Backups) != 0 || len(l.Complete) != 1 {
			t.Errorf("%+v", l)
		}
	})
	t.Run("a database that the fleet does not have", func(t *testing.T) {
		t.Parallel()
		one := aBackup("D", 60)
		one[0] = "gone"
		if l := look(t, one); len(l.Backups) != 0 || len(l.Complete) != 0 {
			t.Errorf("%+v", l)
		}
	})
	t.Run("not granted", func(t *testing.T) {
		t.Parallel()
		f := newFake(t)
		f.fails["backups"] = &tdstest.Error{Number: 229}
		b, err := f.measure(t).round()
		if err != nil || len(b.Backups) != 1 || b.Backups[0].Condition != backups.Unknown ||
			b.Backups[0].Denied != "USE msdb; CREATE USER [watcher] FOR LOGIN [watcher]; GRANT SELECT ON dbo.backupset TO [watcher];" {
			t.Errorf("%v, %+v", err, b.Backups)
		}
	})
	t.Run("every ten minutes, and then only what is new", func(t *testing.T) {
		t.Parallel()
		f := newFake(t)
		m := f.measure(t)
		looks := 0
		for range 21 {
			looks += len(m.well().Backups)
		}
		if looks < 2 || looks > 4 || !slices.Equal(f.asked[:2], []string{"hour, -840", "hour, -2"}) {
			t.Errorf("%d looks, %v", looks, f.asked)
		}
	})
	for name, change := range map[string]func(row){
		"an unknown type": func(r row) { r[4] = "X" }, "no age": func(r row) { r[5] = "soon" }, "no creation": func(r row) { r[1] = "x" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			one := aBackup("D", 60)
			change(one)
			f.backups = []row{one}
			if b, err := f.measure(t).round(); err == nil || len(b.Backups) != 0 || len(b.Sessions) == 0 {
				t.Errorf("%v, %+v", err, b.Backups)
			}
		})
	}
}
