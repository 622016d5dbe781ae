package postgres_test

import (
	"testing"
	"time"

	"muster/internal/postgres"
	"muster/internal/testing/pgtest"
)

// TestTheClockOfTheDatabaseIsUsed: it is never ahead of it, is behind by no more than an answer
// takes, and never goes back for a reader while it is read again.
func TestTheClockOfTheDatabaseIsUsed(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	clock, err := postgres.NewClock(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	read, looked := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(looked)
		for last := clock.Now(); ; {
			select {
			case <-read:
				return
			default:
			}
			now := clock.Now()
			if now.Before(last) {
				t.Errorf("time went back from %s to %s", last, now)
				return
			}
			last = now
		}
	}()
	defer func() { close(read); <-looked }()
	for range 100 {
		before := clock.Now()
		var shown time.Time
		if err := db.Get(&shown, `SELECT clock_timestamp()`); err != nil {
			t.Fatal(err)
		}
		after := clock.Now()
		if before.After(shown) || shown.Sub(after) > time.Second {
			t.Fatalf("the clock shows %s, then the database %s, then the clock %s", before, shown, after)
		}
		if err := clock.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAMachineWithAWrongClock uses the database's, in whichever direction its own is off and from the next
// reading on: the database's clock stands for the machine's here.
func TestAMachineWithAWrongClock(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	off := func(by string) {
		pgtest.Connect(t, url).MustExec(`CREATE SCHEMA IF NOT EXISTS off; CREATE OR REPLACE FUNCTION off.clock_timestamp() RETURNS timestamptz
			LANGUAGE sql AS $$ SELECT pg_catalog.clock_timestamp() + interval '` + by + `' $$`)
	}
	off("10 minutes")
	db := pgtest.Connect(t, url+"&search_path=off,pg_catalog")
	clock, err := postgres.NewClock(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []time.Duration{10 * time.Minute, -10 * time.Minute, 0} {
		off(by.String())
		if err := clock.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		if wrong := time.Until(clock.Now()) - by; wrong.Abs() > time.Minute {
			t.Errorf("the database's clock is %s ahead, and ours is wrong by %s", by, wrong)
		}
	}
}
