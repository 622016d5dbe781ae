package pgstore

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/rollup"
	"muster/internal/postgres/transact"
)

// rollOnly rolls up until the process dies, which is when it begins with another hour than the
// first ones, and says how many hours it has rolled up: those of the groups before.
func (s *stage) rollOnly(first int) int {
	s.Helper()
	ctx, die := context.WithCancel(s.Context())
	defer die()
	begun := 0
	s.fault = func(step string) error {
		if step == "roll" {
			if begun++; begun > first {
				die()
			}
		}
		return nil
	}
	n, err := s.Roll(ctx)
	s.fault = nil
	if !errors.Is(err, context.Canceled) {
		s.Fatalf("rolled up %d hours, %v", n, err)
	}
	s.eventually(func() []string {
		if s.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
			AND backend_type = 'client backend' AND xact_start IS NOT NULL`) > 0 {
			return []string{"a transaction of the process that died"}
		}
		return nil
	})
	return n
}

// TestRecentSamplesAreRolledUpFirst, and imports are worked off beside them, series by series.
func TestRecentSamplesAreRolledUpFirst(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, subject := range []string{"a", "c"} {
		var past []codec.Arrival
		for i := range 10 * rollup.GroupHours {
			past = append(past, measured(codec.Sessions, subject, monday.Add(time.Duration(-i-1)*time.Hour), 1))
		}
		s.write(past...)
	}
	s.write(measured(codec.Sessions, "b", monday, 1))
	if n := s.rollOnly(rollup.GroupHours); n != rollup.GroupHours {
		t.Fatalf("%d hours in the first group, want %d", n, rollup.GroupHours)
	}
	if n := s.count(`SELECT count(*) FROM dirty_hours WHERE hour = $1`, monday); n != 0 {
		t.Error("the newest hour waits")
	}
	for _, subject := range []string{"a", "c"} { // each after a group of the newest
		if n := s.rollOnly(2 * rollup.GroupHours); n != 2*rollup.GroupHours {
			t.Fatalf("%d hours in two groups, want %d", n, 2*rollup.GroupHours)
		}
		if n := s.count(`SELECT count(*) FROM dirty_hours d JOIN measured_series s ON s.id = d.series_id WHERE s.subject = $1 AND d.hour < $2`,
			subject, monday.Add((-10*rollup.GroupHours+rollup.GroupHours)*time.Hour)); n != 0 {
			t.Errorf("%d of the oldest hours of %s wait", n, subject)
		}
	}
	s.roll()
	s.check()
}

// TestABusySeries is waited for, once it has been dirty for long.
func TestABusySeries(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.write(measured(codec.Sessions, "a", monday, 1))
	s.exec(`UPDATE dirty_hours SET since = since - interval '1 minute'`)
	writer, err := s.db.BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.ExecContext(t.Context(), `SELECT FROM measured_series FOR NO KEY UPDATE`); err != nil {
		t.Fatal(err)
	}
	rolled := make(chan int)
	go func() {
		n, err := s.Roll(t.Context())
		if err != nil {
			t.Error(err)
		}
		rolled <- n
	}()
	awaitWaiter(s)
	if err := writer.Commit(); err != nil {
		t.Fatal(err)
	}
	if n := <-rolled; n != 1 {
		t.Errorf("%d hours were rolled up", n)
	}
	s.check()
}

// TestAWriterThatHangs holds up only its own series.
func TestAWriterThatHangs(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.write(measured(codec.Sessions, "hung", monday, 1))
	s.exec(`UPDATE dirty_hours SET since = since - interval '1 minute'`)
	writer, err := s.db.BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.ExecContext(t.Context(), `SELECT FROM measured_series FOR NO KEY UPDATE`); err != nil {
		t.Fatal(err)
	}
	if n := s.roll(); n != 0 { // and it returns
		t.Errorf("%d hours were rolled up under their writer", n)
	}
	s.write(measured(codec.Sessions, "free", monday, 1))
	if n := s.roll(); n != 1 {
		t.Errorf("%d hours were rolled up, want the other one", n)
	}
	if err := writer.Rollback(); err != nil {
		t.Fatal(err)
	}
	s.rollAll()
	s.check()
}

// TestRollingUpEnds, however busy the senders are: later samples wait for the next time, when
// there are more.
func TestRollingUpEnds(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.write(measured(codec.Sessions, "a", monday, 1))
	others := s.another()
	s.fault = func(step string) error {
		if s.fault = nil; step != "roll" {
			return nil
		}
		late := measured(codec.Sessions, "b", monday, 2)
		s.remember(late)
		return transact.Once(t.Context(), others.db, nil, func(tx *sqlx.Tx) error {
			if _, _, err := others.Keep(t.Context(), tx, measurements.Batch{Organization: s.org}, []codec.Arrival{late}); err != nil {
				return err
			}
			_, err := tx.ExecContext(t.Context(), `UPDATE dirty_hours SET since = now() + interval '1 hour'`) // however slow we are
			return err
		})
	}
	for range 2 {
		if n := s.roll(); n != 1 {
			t.Errorf("%d hours at once, want 1", n)
		}
	}
	s.check()
}

// awaitWaiter returns when a session waits for a lock.
func awaitWaiter(s *stage) {
	s.Helper()
	s.eventually(func() []string {
		if s.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 0 {
			return []string{"a session that waits for a lock"}
		}
		return nil
	})
}

// TestGroupsAreBounded by the amount that they read.
func TestGroupsAreBounded(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.write(measured(codec.Statements, "a", monday, 0), measured(codec.Statements, "b", monday.Add(time.Hour), 0))
	s.exec(`UPDATE raw_samples SET body = decode(repeat('00', $1), 'hex')`, rollup.GroupBytes)
	if n := s.rollOnly(1); n != 1 {
		t.Fatalf("%d hours in the first group, want 1 of 2", n)
	}
	s.write(measured(codec.Statements, "b", monday, 0))
	s.exec(`UPDATE raw_samples SET body = decode(repeat('00', $1), 'hex')`, rollup.GroupBytes)
	if n := s.roll(); n != 2 {
		t.Errorf("%d more hours, want 2", n)
	}
}

// TestGroupsAreBoundedByDetails too: late in a week they are most of what is read.
func TestGroupsAreBoundedByDetails(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	later := monday.Add(47 * time.Hour)
	for _, subject := range []string{"a", "b", "c"} {
		s.write(measured(codec.Statements, subject, monday, 1), measured(codec.Statements, subject, later.Add(-time.Hour), 1))
	}
	s.roll()
	s.exec(`UPDATE head_hour_details SET body = decode(repeat('00', $1), 'hex') WHERE start >= $2
		AND series_id = (SELECT id FROM measured_series WHERE subject = 'a')`, rollup.GroupBytes, monday.Add(24*time.Hour))
	s.exec(`UPDATE head_day_details SET body = decode(repeat('00', $1), 'hex') WHERE start = $2
		AND series_id = (SELECT id FROM measured_series WHERE subject = 'b')`, rollup.GroupBytes, monday)
	for _, subject := range []string{"a", "b", "c"} {
		s.write(measured(codec.Statements, subject, later, 1))
	}
	for range 2 {
		if n := s.rollOnly(1); n != 1 {
			t.Fatalf("%d hours in a group, want 1", n)
		}
	}
	if n := s.roll(); n != 1 {
		t.Errorf("%d more hours, want 1", n)
	}
}
