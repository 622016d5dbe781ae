package serverfacts

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/measurements/backups"
	"muster/internal/measurements/forecast"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/day"
)

// TestABackupOfTheServerNamesNoDatabase, and a backup of a removed database is not the last one.
func TestABackupOfTheServerNamesNoDatabase(t *testing.T) {
	t.Parallel()
	gone, now := uuid.New(), time.Now()
	b := &Backups{RPO: 24 * time.Hour, Standings: []backups.Standing{{Database: uuid.Nil, State: backups.Late, Age: 48 * time.Hour}}}
	if got := b.counts(&snapshot.Instance{Name: "a"}); got == nil || got.Late != 1 || got.Worst.Database != "" || got.Worst.Server != "a" {
		t.Errorf("%+v", got)
	}
	b.newest = []backups.Newest{{Database: gone, Kind: backups.Full, FinishedAt: now.AddDate(-1, 0, 0)}}
	if last := b.last(); last != nil {
		t.Errorf("%+v", last)
	}
}

// TestAVolumeWithoutADateStaysListed: a volume that is full in a month does not hide one that is nearly full and
// jumps.
func TestAVolumeWithoutADateStaysListed(t *testing.T) {
	t.Parallel()
	dated := day.Fill{Name: "/data", Percent: 40, Days: new(30.0)}
	jumps := day.Fill{Name: "/wal", Percent: 97, Why: string(forecast.SawTooth)}
	level := day.Fill{Name: "/old", Percent: 99, Why: string(forecast.NotGrowing)}
	half := day.Fill{Name: "/", Percent: 50, Why: string(forecast.SawTooth)}
	for name, test := range map[string]struct {
		all            []day.Fill
		first, undated string
	}{
		"a date":                   {[]day.Fill{dated, half}, "/data", ""},
		"a date, and nearly full":  {[]day.Fill{dated, level, jumps}, "/data", "/wal"},
		"a date, and full as ever": {[]day.Fill{dated, level}, "/data", "/old"},
		"no date":                  {[]day.Fill{half, level, jumps}, "/wal", ""},
	} {
		first, undated := firstOf(test.all)
		if undated == nil {
			undated = &day.Fill{}
		}
		if first.Name != test.first || undated.Name != test.undated {
			t.Errorf("%s: %s, %s", name, first.Name, undated.Name)
		}
	}
}
