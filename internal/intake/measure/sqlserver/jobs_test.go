package sqlserver

import (
	"strings"
	"testing"
	"time"

	"muster/internal/measurements/room"
	"muster/internal/servers/tdstest"
)

// TestJobsOfTheAgent holds the reader to rows of msdb's history: each run that failed counts once, with the step that
// failed, and for a day.
func TestJobsOfTheAgent(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.jobs = []row{ // the newest first, as the query has them
		{14, "IndexOptimize", 0, "(Job outcome)", 60},
		{13, "IndexOptimize", 2, "Rebuild ERP", 61},
		{9, "Backup", 0, "(Job outcome)", 7200},
	}
	m := f.measure(t)
	look := func() room.State {
		t.Helper()
		b := m.well()
		if len(b.Room) != 1 {
			t.Fatalf("%+v", b.Room)
		}
		return b.Room[0]
	}
	first := look()
	if *first.Failed != 2 || len(first.Jobs) != 2 || first.Jobs[0].Name != "Backup" || first.Jobs[0].Step != "" || !first.Jobs[0].At.Equal(first.At.Add(-2*time.Hour)) ||
		first.Jobs[1].Name != "IndexOptimize" || first.Jobs[1].Step != "Rebuild ERP" {
		t.Errorf("the first look has %+v", first)
	}
	f.clock.Advance(room.Every)
	f.jobs = append([]row{{20, "Backup", 0, "(Job outcome)", 30}}, f.jobs...)
	if next := look(); *next.Failed != 3 || next.Jobs[2].Name != "Backup" || !next.Jobs[2].At.Equal(next.At.Add(-30*time.Second)) {
		t.Errorf("the next look has %+v", next)
	}
	f.clock.Advance(23 * time.Hour)
	if last := look(); *last.Failed != 1 {
		t.Errorf("a day later there are %+v", last.Jobs)
	}
}

// TestJobsAreNotKnown where the login may not read msdb, or the history is nonsense: that is no zero.
func TestJobsAreNotKnown(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.fails["jobs"] = &tdstest.Error{Number: 229, Text: "The SELECT permission was denied on the object 'sysjobhistory'."}
	b := f.measure(t).well()
	if len(b.Room) != 1 || b.Room[0].Failed != nil || len(b.Room[0].Denied) != 1 || !strings.Contains(b.Room[0].Denied[0], "GRANT SELECT ON dbo.sysjobhistory TO [watcher];") {
		t.Errorf("a login without the grant has %+v", b.Room)
	}
	f = newFake(t)
	f.jobs = []row{{1, "Backup", 0, "(Job outcome)", "soon"}}
	if b, err := f.measure(t).round(); err == nil || len(b.Room) != 1 || b.Room[0].Failed != nil || len(b.Room[0].Left) != 1 {
		t.Errorf("nonsense is %+v, %v", b.Room, err)
	}
}
