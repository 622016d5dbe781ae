package backups_test

import (
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/measurements/backups"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// scene is a server of an organization, whose backups are recorded.
type scene struct {
	*testing.T
	db                     *sqlx.DB
	organization, instance uuid.UUID
}

func newScene(t *testing.T) *scene {
	t.Helper()
	return &scene{t, pgtest.DB(t), uuid.New(), uuid.New()}
}

func (s *scene) record(at time.Time, look backups.Look) {
	s.Helper()
	look.Instance, look.At = s.instance, at
	if look.Condition == "" {
		look.Condition = backups.Works
	}
	if err := backups.Record(s.Context(), s.db, s.organization, at, []backups.Look{look}); err != nil {
		s.Fatal(err)
	}
}

func (s *scene) standings(rpo time.Duration, now time.Time) []backups.Standing {
	s.Helper()
	newest, err := backups.NewestOf(s.Context(), s.db, s.organization, fleet.Scope{})
	if err != nil {
		s.Fatal(err)
	}
	looks, err := backups.Looks(s.Context(), s.db, s.organization, fleet.Scope{})
	if err != nil {
		s.Fatal(err)
	}
	return backups.StandingsOf(newest, looks, rpo, now)
}

func (s *scene) ends(from, to time.Time) []backups.Ends {
	s.Helper()
	ends, err := backups.EndsOf(s.Context(), s.db, s.organization, fleet.Scope{Filtered: true, Instances: []uuid.UUID{s.instance}}, from, to)
	if err != nil {
		s.Fatal(err)
	}
	return ends
}

func backup(kind backups.Kind, finished time.Time, database uuid.UUID) backups.Backup {
	return backups.Backup{Kind: kind, FinishedAt: finished, Database: database}
}

// TestTheNewestBackupCounts, whichever comes first, how often it comes, and from which source.
func TestTheNewestBackupCounts(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	sales := uuid.New()
	for range 2 {
		s.record(noon, backups.Look{Source: backups.Feed, Backups: []backups.Backup{
			backup(backups.Log, noon.Add(-10*time.Minute), sales), backup(backups.Full, noon.Add(-30*time.Hour), sales), backup(backups.Full, noon.Add(-54*time.Hour), sales),
		}})
	}
	s.record(noon, backups.Look{Source: backups.Feed, Backups: []backups.Backup{backup(backups.Full, noon.Add(-40*time.Hour), sales)}}) // late
	s.record(noon, backups.Look{Source: backups.MSDB, Backups: []backups.Backup{backup(backups.Log, noon.Add(-time.Hour), sales)}})
	all := s.standings(15*time.Minute, noon)
	if len(all) != 1 || all[0].State != backups.InTime || all[0].Age != 10*time.Minute || !all[0].RestorableTo.Equal(noon.Add(-10*time.Minute)) || all[0].Database != sales {
		t.Fatalf("%+v", all)
	}
	if of := all[0].Of; len(of) != 2 || of[0].Kind != backups.Full || !of[0].FinishedAt.Equal(noon.Add(-30*time.Hour)) || of[1].Source != backups.Feed {
		t.Errorf("%+v", of)
	}
	if late := s.standings(9*time.Minute, noon); late[0].State != backups.Late {
		t.Errorf("%+v", late)
	}
	ends := s.ends(noon.Add(-72*time.Hour), noon)
	if len(ends) != 1 || len(ends[0].Times) != 5 {
		t.Errorf("%+v", ends)
	}
}

// TestABackupOfTheServerIsOneOfEveryDatabase that has backups of its own.
func TestABackupOfTheServerIsOneOfEveryDatabase(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	sales := uuid.New()
	s.record(noon, backups.Look{Source: backups.Feed, Backups: []backups.Backup{
		backup(backups.Full, noon.Add(-50*time.Hour), sales), backup(backups.Base, noon.Add(-5*time.Hour), uuid.Nil),
	}})
	for _, st := range s.standings(24*time.Hour, noon) {
		if st.State != backups.InTime || st.Age != 5*time.Hour {
			t.Errorf("%+v", st)
		}
	}
}

// TestUnknownIsNotTheLackOfABackup, and no backup either.
func TestUnknownIsNotTheLackOfABackup(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		look backups.Look
		want backups.State
		age  time.Duration
	}{
		"WAL without a base backup":    {backups.Look{Source: backups.Archiver, Backups: []backups.Backup{backup(backups.WAL, noon, uuid.Nil)}}, backups.NotKnown, 0},
		"a log without a full backup":  {backups.Look{Source: backups.Feed, Backups: []backups.Backup{backup(backups.Log, noon, uuid.Nil)}}, backups.NotKnown, 0},
		"none, of a database of old":   {backups.Look{Source: backups.MSDB, Complete: []backups.Database{{ID: uuid.New(), Since: noon.Add(-48 * time.Hour)}}}, backups.None, 48 * time.Hour},
		"none, of a new database":      {backups.Look{Source: backups.MSDB, Complete: []backups.Database{{ID: uuid.New(), Since: noon.Add(-time.Hour)}}}, backups.InTime, time.Hour},
		"one that ends after it began": {backups.Look{Source: backups.Feed, Backups: []backups.Backup{backup(backups.Full, noon.Add(time.Minute), uuid.Nil)}}, backups.InTime, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.record(noon, c.look)
			if all := s.standings(24*time.Hour, noon); len(all) != 1 || all[0].State != c.want || all[0].Age != c.age || (all[0].Why == "") != (c.want != backups.NotKnown) {
				t.Errorf("%+v", all)
			}
		})
	}
	s := newScene(t)
	began, size := noon, int64(-1)
	s.record(noon, backups.Look{Source: backups.PgBackRest, Backups: []backups.Backup{
		{Kind: backups.Base, FinishedAt: noon.Add(6 * time.Minute)},               // of the future
		{Kind: backups.Base, FinishedAt: noon.Add(-time.Hour), StartedAt: &began}, // ended before it began
		{Kind: backups.Base, FinishedAt: noon, SizeBytes: &size},                  //
		{Kind: "snapshot", FinishedAt: noon},                                      //
	}})
	if all := s.standings(time.Hour, noon); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

func TestAnOlderLookDoesNotChangeALaterOne(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.record(noon, backups.Look{Source: backups.Archiver, Condition: backups.Failing, Why: "The last attempt failed.\x00\x07"})
	s.record(noon.Add(-time.Minute), backups.Look{Source: backups.Archiver})
	looks, err := backups.Looks(t.Context(), s.db, s.organization, fleet.Scope{})
	if err != nil || len(looks) != 1 || looks[0].Condition != backups.Failing || looks[0].Why != "The last attempt failed.\ufffd" && looks[0].Why != "The last attempt failed." {
		t.Errorf("%v, %+v", err, looks)
	}
	if foreign, err := backups.Looks(t.Context(), s.db, uuid.New(), fleet.Scope{}); err != nil || len(foreign) != 0 {
		t.Errorf("%v, %+v", err, foreign)
	}
}

// TestADayIsAsOldAsItsWorstMoment: a gap counts on each day that it touches, and a day without anything known is unknown.
func TestADayIsAsOldAsItsWorstMoment(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	midnight := noon.Truncate(24 * time.Hour)
	at := func(day, hour int) backups.Backup {
		return backup(backups.Full, midnight.AddDate(0, 0, day).Add(time.Duration(hour)*time.Hour), uuid.Nil)
	}
	s.record(noon, backups.Look{Source: backups.Feed, Backups: []backups.Backup{at(-4, 2), at(-3, 2), at(-1, 20), at(0, 2)}})
	ends := s.ends(midnight.AddDate(0, 0, -5), noon)
	days := backups.DaysOf(ends, nil, nil, midnight.AddDate(0, 0, -5), noon)
	const limit = 24 * time.Hour
	for i, want := range []struct {
		hours       int // −1: nothing is known
		known, kept bool
	}{{-1, false, false}, {22, false, false}, {24, true, true}, {46, true, false}, {66, true, false}, {10, true, true}} {
		kept, known := days[i].Kept(limit)
		is := -1
		if days[i].Greatest != nil {
			is = int(days[i].Greatest.Hours())
		}
		if is != want.hours || known != want.known || kept != want.kept {
			t.Errorf("day %d: %d hours, known %t, kept %t; want %+v", i, is, known, kept, want)
		}
	}
	if none := backups.DaysOf(nil, nil, []time.Time{midnight.Add(-36 * time.Hour)}, midnight, noon); *none[0].Greatest != 48*time.Hour {
		t.Errorf("%+v", none)
	}
	young := backups.DaysOf(ends, map[uuid.UUID]time.Time{uuid.Nil: midnight.AddDate(0, 0, -4).Add(3 * time.Hour)}, nil, midnight.AddDate(0, 0, -5), noon)
	if young[0].Known || young[0].Greatest != nil || !young[1].Known {
		t.Errorf("a database does not count before it is there: %+v", young[:2])
	}
}

// TestEndsAreForgotten after 400 days, and never kept beyond them.
func TestEndsAreForgotten(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	now := time.Now().UTC()
	s.record(now, backups.Look{Source: backups.Feed, Backups: []backups.Backup{backup(backups.Full, now.AddDate(0, 0, -399), uuid.Nil), backup(backups.Full, now.AddDate(0, 0, -402), uuid.Nil)}})
	s.db.MustExec(`UPDATE backup_days SET day = day - 5`)
	if err := backups.Forget(t.Context(), s.db); err != nil {
		t.Fatal(err)
	}
	if ends := s.ends(now.AddDate(-3, 0, 0), now); len(ends) != 0 {
		t.Errorf("%+v", ends)
	}
	if all := s.standings(time.Hour, now); len(all) != 1 || all[0].Age.Truncate(time.Hour) != 399*24*time.Hour {
		t.Errorf("the newest backup stays: %+v", all)
	}
}
