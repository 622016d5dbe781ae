package postgresql

import (
	"strconv"
	"testing"
	"time"

	"muster/internal/measurements/backups"
	"muster/internal/testing/pgtest"
)

// TestTheArchiver of a real server: off, on without a command, with one that throws WAL away, with one that works, fails
// and works again, and with one that hangs.
func TestTheArchiver(t *testing.T) {
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			t.Parallel()
			archive(t, major)
		})
	}
}

func archive(t *testing.T, major int) {
	s := pgtest.Cluster(t, pgtest.Options{Major: major, Settings: map[string]string{"archive_mode": "on", "wal_level": "replica"}})
	admin := pgtest.Connect(t, s.Superuser())
	admin.MustExec(`CREATE ROLE watcher LOGIN; GRANT pg_monitor TO watcher; CREATE TABLE t (n int)`)
	r := newReplica(t, s)
	command := func(is string) {
		admin.MustExec(`ALTER SYSTEM SET archive_command = '` + is + `'`)
		admin.MustExec(`SELECT pg_reload_conf()`)
		r.until(`SELECT current_setting('archive_command') = '` + is + `'`)
	}
	next := func() { admin.MustExec(`INSERT INTO t VALUES (1)`); admin.MustExec(`SELECT pg_switch_wal()`) }
	look := func(want backups.Condition, why string) *backups.Look {
		t.Helper()
		l, err := r.read.Backups(t.Context(), r.line, time.Now())
		if err != nil || l.Condition != want || l.Why != why {
			t.Fatalf("%v, %+v", err, l)
		}
		return l
	}
	look(backups.Idle, "Archiving is on and does nothing: archive_command and archive_library are empty.")
	command("exit 0")
	look(backups.Idle, "Archiving is on and does nothing: archive_command succeeds without keeping the file.")
	// In the data directory. What is written has to be read: a program that ends before breaks the pipe.
	shell := func(does string) { admin.MustExec(`COPY (SELECT 1) TO PROGRAM '` + does + ` && cat > /dev/null'`) }
	shell("mkdir archived")
	command("test -e mounted && cp %p archived/%f")
	look(backups.Idle, "Archiving is on and has archived nothing yet.")
	next()
	r.until(`SELECT failed_count > 0 FROM pg_stat_archiver`)
	broken := look(backups.Failing, "Archiving of 000000010000000000000001 fails.")
	if len(broken.Backups) != 0 {
		t.Errorf("%+v", broken.Backups)
	}
	shell("touch mounted")
	next()
	r.until(`SELECT coalesce(last_archived_wal = '000000010000000000000002' AND last_archived_time > last_failed_time, false) FROM pg_stat_archiver`)
	mended := look(backups.Works, "")
	var at time.Time
	if err := admin.Get(&at, `SELECT last_archived_time FROM pg_stat_archiver`); err != nil {
		t.Fatal(err)
	}
	if b := mended.Backups; len(b) != 1 || b[0].Kind != backups.WAL || b[0].FinishedAt.Sub(at).Abs() > time.Millisecond || b[0].Tool != "archive_command" {
		t.Errorf("%+v, the server says %s", b, at)
	}
	shell("rm mounted")
	next()
	r.until(`SELECT coalesce(last_failed_time > last_archived_time, false) FROM pg_stat_archiver`)
	admin.MustExec(`INSERT INTO t VALUES (1)`) // into the next file
	again := look(backups.Failing, "Archiving of "+name(t, r, "last_failed_wal")+" fails; 1 files wait.")
	if len(again.Backups) != 1 || !again.Backups[0].FinishedAt.Equal(mended.Backups[0].FinishedAt) {
		t.Errorf("%+v", again.Backups)
	}
	admin.MustExec(`CREATE ROLE stranger LOGIN`)
	if l, err := r.read.Backups(t.Context(), r.as("stranger"), time.Now()); err != nil || l.Condition != backups.Failing {
		t.Errorf("the view is everybody's: %v, %+v", err, l)
	}
}

func name(t *testing.T, r *replica, column string) (is string) {
	t.Helper()
	if err := r.admin.Get(&is, `SELECT `+column+` FROM pg_stat_archiver`); err != nil {
		t.Fatal(err)
	}
	return is
}

// TestFiguresOfTheArchiver that a server has after days.
func TestFiguresOfTheArchiver(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	seconds := func(ago time.Duration) *float64 {
		at := float64(now.Add(-ago).Unix())
		return &at
	}
	for name, c := range map[string]struct {
		is   archiver
		want backups.Condition
		why  string
	}{
		"off":                           {archiver{Mode: "off", Empty: true}, backups.Off, "archive_mode is off: no WAL is archived."},
		"a standby":                     {archiver{Mode: "on", Standby: true}, backups.Off, "A standby archives nothing unless archive_mode is always. Its primary does."},
		"a standby that archives":       {archiver{Mode: "always", Standby: true, At: seconds(time.Minute)}, backups.Works, ""},
		"nothing happens on it":         {archiver{Mode: "on", At: seconds(time.Hour), File: "0000000100000001000000FF", Writes: "000000010000000200000000"}, backups.Works, ""},
		"it hangs":                      {archiver{Mode: "on", At: seconds(time.Hour), File: "0000000100000001000000FE", Writes: "000000010000000200000003"}, backups.Failing, "4 files wait to be archived, and the last one was archived 60 minutes ago."},
		"it is about to":                {archiver{Mode: "on", At: seconds(time.Minute), File: "0000000100000001000000FE", Writes: "000000010000000200000003"}, backups.Works, ""},
		"a history file came last":      {archiver{Mode: "on", At: seconds(time.Hour), File: "00000002.history", Writes: "000000020000000200000003"}, backups.Works, ""},
		"a file of an older timeline":   {archiver{Mode: "on", At: seconds(time.Hour), File: "000000010000000100000001", Writes: "000000020000000200000003"}, backups.Works, ""},
		"a base backup's label":         {archiver{Mode: "on", At: seconds(time.Hour), File: "000000010000000200000002.00000028.backup", Writes: "000000010000000200000003"}, backups.Works, ""},
		"it failed before it worked":    {archiver{Mode: "on", At: seconds(time.Minute), FailedAt: seconds(time.Hour)}, backups.Works, ""},
		"it never worked, and it fails": {archiver{Mode: "on", FailedAt: seconds(time.Hour), FailedFile: "000000010000000100000001"}, backups.Failing, "Archiving of 000000010000000100000001 fails."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.is.Now, c.is.Segment = float64(now.Unix()), 16<<20
			if l := c.is.look(now); l.Condition != c.want || l.Why != c.why {
				t.Errorf("%+v", l)
			}
		})
	}
	ahead := archiver{Mode: "on", Now: float64(now.Add(time.Hour).Unix()), At: seconds(-59 * time.Minute)} // its clock is an hour ahead
	if l := ahead.look(now); !l.Backups[0].FinishedAt.Equal(now.Add(-time.Minute)) {
		t.Errorf("%+v", l.Backups)
	}
}
