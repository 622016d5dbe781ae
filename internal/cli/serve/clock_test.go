package serve

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/eventstore"
	"muster/internal/cli/installation"
	"muster/internal/postgres"
	"muster/internal/testing/pgtest"
)

// TestAClockThatIsADayOffIsReported: events that are recorded by it contradict every other clock, so no
// verifier believes reports. That goes on after the clock is right again, for the times of a log never go back.
func TestAClockThatIsADayOffIsReported(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	clock, err := postgres.NewClock(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Installation: &installation.Installation{DB: db, Clock: clock}}
	said := func(machine time.Time, want string) {
		t.Helper()
		err := p.clockHolds(t.Context(), machine)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("it says %v, want %q", err, want)
		}
	}
	_, err = eventstore.New(db).Append(t.Context(), eventstore.Reports, eventstore.Append{
		Organization: uuid.New(), StreamType: "s", Stream: uuid.New(), Expected: eventstore.AnyVersion,
		Events: []eventstore.NewEvent{{Type: "t", Data: []byte(`{}`)}, {Type: "t", Data: []byte(`{}`)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	said(time.Now(), "")
	said(time.Now().Add(-23*time.Hour), "")
	said(time.Now().AddDate(0, 0, -2), "2 days ahead of this machine's")
	said(time.Now().AddDate(0, 0, 3), "3 days behind this machine's")

	pgtest.Unguard(t, db)
	db.MustExec(`UPDATE events SET recorded_at = recorded_at + interval '40 days' WHERE position = 1`)
	said(time.Now(), "") // an older event, in the log as it is
	db.MustExec(`UPDATE events SET recorded_at = recorded_at + interval '40 days' WHERE position = 2`)
	var last time.Time
	if err := db.Get(&last, `SELECT recorded_at FROM events WHERE position = 2`); err != nil {
		t.Fatal(err)
	}
	said(time.Now(), "the last event of log reports is dated "+last.UTC().Format(time.DateOnly))
}
