package alerts_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/alert"
	"muster/eventstore"
	"muster/internal/testing/pgtest"
	"muster/projections/alerts"
)

// TestOpenAsOf: open and not muted, by what had been recorded.
func TestOpenAsOf(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	store := eventstore.New(db)
	us, them := uuid.New(), uuid.New()
	cpu, disk, foreign := uuid.New(), uuid.New(), uuid.New()
	days := []struct {
		organization, stream uuid.UUID
		events               []domain.Event
		then                 int64
	}{
		{us, cpu, []domain.Event{domain.Raised{}}, 1},
		{them, foreign, []domain.Event{domain.Raised{}}, 1},
		{us, disk, []domain.Event{domain.Raised{}, domain.Muted{}}, 1},
		{us, cpu, []domain.Event{domain.Acknowledged{}}, 1}, // known of, and still there
		{us, disk, []domain.Event{domain.Unmuted{}}, 2},
		{us, cpu, []domain.Event{domain.StillFiring{}, domain.TriggeredAgain{}, domain.Changed{}}, 2},
		{us, cpu, []domain.Event{domain.MutedUntil{}, domain.Noted{}}, 1},
		{us, cpu, []domain.Event{domain.MuteEnded{}}, 2},
		{us, cpu, []domain.Event{domain.Muted{}}, 1},
		{us, cpu, []domain.Event{domain.Resolved{}}, 1},
		{us, cpu, []domain.Event{domain.Unmuted{}}, 1}, // it is over all the same
		{us, uuid.New(), []domain.Event{domain.Raised{}, domain.Resolved{}}, 1},
		{us, disk, []domain.Event{domain.AutoResolved{}}, 0},
	}
	pgtest.Unguard(t, db)
	first, last := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), int64(0)
	for i, day := range days {
		batch := eventstore.Append{Organization: day.organization, StreamType: domain.StreamType, Stream: day.stream, Expected: eventstore.AnyVersion}
		for _, e := range day.events {
			batch.Events = append(batch.Events, eventstore.NewEvent{Type: domain.Name(e), Data: []byte(`{}`)})
		}
		position, err := store.Append(t.Context(), eventstore.Fleet, batch)
		if err != nil {
			t.Fatal(err)
		}
		db.MustExec(`UPDATE events SET recorded_at = $1 WHERE log = 'fleet' AND position > $2`, first.AddDate(0, 0, i), last)
		last = position
	}
	at := func(organization uuid.UUID, when time.Time) int64 {
		t.Helper()
		open, err := alerts.OpenAsOf(t.Context(), store, organization, when)
		if err != nil {
			t.Fatal(err)
		}
		return open
	}
	if got := at(us, first); got != 0 {
		t.Errorf("before the first event %d", got)
	}
	for i, day := range days {
		if got := at(us, first.AddDate(0, 0, i).Add(time.Microsecond)); got != day.then {
			t.Errorf("after append %d %d, want %d", i+1, got, day.then)
		}
	}
	if got := at(them, first.AddDate(1, 0, 0)); got != 1 {
		t.Errorf("the other organization has %d", got)
	}
}
