package pgstore

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/ledger"
)

const day = 24 * time.Hour

// otherRetentions are a shorter and a longer one than the standard.
var otherRetentions = map[string]ledger.Retention{
	"shorter": {Raw: 48 * time.Hour, Minutes: 25 * day, Hours: 200 * day, Activity: ledger.Buckets{Minutes: 6 * day, Hours: 30 * day, Days: 150 * day}},
	"longer":  {Raw: 120 * time.Hour, Minutes: 60 * day, Hours: 600 * day, Activity: ledger.Buckets{Minutes: 10 * day, Hours: 50 * day, Days: 500 * day}},
}

// eachRetention tries something on stores with other retentions.
func eachRetention(t *testing.T, try func(*testing.T, *stage)) {
	t.Parallel()
	for name, of := range otherRetentions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.ledger.Retention = of
			try(t, s)
		})
	}
}

// TestAnHourIsSealedAfterTheRetention of raw samples, and no sooner: until then late samples are
// accepted, and change what is shown.
func TestAnHourIsSealedAfterTheRetention(t *testing.T) {
	eachRetention(t, func(t *testing.T, s *stage) {
		late := func(minute time.Duration) measurements.Receipt {
			receipt, err := s.try(measured(codec.Sessions, "a", past.Add(minute*time.Minute), 7))
			if err != nil {
				t.Fatal(err)
			}
			return receipt
		}
		s.write(measured(codec.Sessions, "a", past, 1))
		s.roll()
		s.quieten(s.ledger.Retention.Raw - time.Minute)
		if n := s.seal(); n != 0 || s.raw() != 1 {
			t.Errorf("a minute too soon, %d hours were sealed and %d raw samples are left", n, s.raw())
		}
		if receipt := late(1); receipt.Accepted.Sessions != 1 {
			t.Errorf("a minute before the hour is sealed: %+v", receipt)
		}
		s.remember(measured(codec.Sessions, "a", past.Add(time.Minute), 7))
		s.roll()
		s.check()
		s.quieten(s.ledger.Retention.Raw + time.Minute)
		if n := s.seal(); n != 1 || s.raw() != 0 {
			t.Errorf("%d hours were sealed and %d raw samples are left, want 1 and 0", n, s.raw())
		}
		if receipt := late(2); receipt.TooLate.Sessions != 1 {
			t.Errorf("after the hour was sealed: %+v", receipt)
		}
		s.check()
	})
}

// TestNoHourIsSealedThatTakesSamples: an hour that is young enough to be written to without a
// look whether it is sealed is not sealed, however long nothing of it has arrived.
func TestNoHourIsSealedThatTakesSamples(t *testing.T) {
	eachRetention(t, func(t *testing.T, s *stage) {
		young := timegrid.Hour.Floor(time.Now().Add(-s.ledger.Retention.Unsealed()).Add(2 * time.Hour))
		s.write(measured(codec.Sessions, "a", young, 1))
		s.roll()
		s.quieten(2 * s.ledger.Retention.Raw)
		if n := s.seal(); n != 0 {
			t.Errorf("%d hours were sealed that take samples", n)
		}
	})
}

// TestRawSamplesArePackedAfterTheRetention: of hours that are younger, and they are unpacked where the
// hour is not sealed within a day of it.
func TestRawSamplesArePackedAfterTheRetention(t *testing.T) {
	eachRetention(t, func(t *testing.T, s *stage) {
		ago := func(d time.Duration) time.Time { return timegrid.Hour.Floor(time.Now().Add(-d)) }
		packed := func() int { return s.count(`SELECT count(*) FROM measured_hours WHERE packed`) }
		s.write(measured(codec.Sessions, "young", ago(s.ledger.Retention.Raw-3*time.Hour), 1), measured(codec.Sessions, "old", ago(s.ledger.Retention.Raw+3*time.Hour), 1))
		s.roll()
		s.compact()
		if packed() != 1 || s.raw() != 1 {
			t.Errorf("%d hours are packed and %d raw samples are in the head, want 1 and 1", packed(), s.raw())
		}
		move := func(d time.Duration) { // a packed hour grows older
			s.exec(`UPDATE measured_hours SET hour = hour - make_interval(secs => $1) WHERE packed`, d.Seconds())
		}
		move(day)
		if err := s.Forget(t.Context()); err != nil || packed() != 1 {
			t.Errorf("%d hours are packed within a day of the retention: %v", packed(), err)
		}
		move(4 * time.Hour)
		if err := s.Forget(t.Context()); err != nil || packed() != 0 {
			t.Errorf("%d hours are packed a day after the retention: %v", packed(), err)
		}
	})
}

// blocksForgotten notes before when blocks are forgotten.
type blocksForgotten struct {
	blocks.Store
	before map[blocks.Table]time.Time // of any kind
}

func (f *blocksForgotten) Forget(_ context.Context, table blocks.Table, kind string, before time.Time) error {
	if kind == blocks.AnyKind {
		f.before[table] = before
	}
	return nil
}

// TestPackedSamplesAreDeletedAfterTheRetention of raw samples, and an hour later, to which the next looks back.
func TestPackedSamplesAreDeletedAfterTheRetention(t *testing.T) {
	eachRetention(t, func(t *testing.T, s *stage) {
		kept := &blocksForgotten{s.ledger.Blocks, make(map[blocks.Table]time.Time)}
		s.ledger.Blocks = kept
		if err := s.Forget(t.Context()); err != nil {
			t.Fatal(err)
		}
		if off := time.Since(kept.before[blocks.Raw]) - s.ledger.Retention.Raw - time.Hour; off.Abs() > time.Minute {
			t.Errorf("blocks of raw samples go %v off their retention", off)
		}
	})
}

// TestBlocksAreDeletedAfterTheRetention of minutes and of hours.
func TestBlocksAreDeletedAfterTheRetention(t *testing.T) {
	eachRetention(t, func(t *testing.T, s *stage) {
		now := time.Now()
		for _, kept := range []time.Duration{s.ledger.Retention.Minutes, s.ledger.Retention.Hours} {
			for _, age := range []time.Duration{kept - 2*day, kept + 2*day} {
				s.write(measured(codec.Sessions, "a", timegrid.Hour.Floor(now.Add(-age)), 5))
			}
		}
		s.roll()
		s.quieten(s.ledger.Retention.Raw + time.Minute)
		s.seal()
		for table, want := range map[string]int{"block_minutes": 1, "block_hours": 3} {
			if n := s.count(`SELECT count(*) FROM ` + table); n != want {
				t.Errorf("%d rows of %s are left, want %d", n, table, want)
			}
		}
	})
}

// TestActivityIsDeletedAfterItsOwnRetention of minutes, hours and days, each bucket completely, and nothing
// else is deleted.
func TestActivityIsDeletedAfterItsOwnRetention(t *testing.T) {
	t.Parallel()
	for name, of := range otherRetentions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCompany(t)
			c.ledger.Retention = of
			kept := of.Activity
			for _, age := range []time.Duration{kept.Minutes, kept.Hours, kept.Days} {
				for _, at := range []time.Duration{age - time.Hour, age + 9*day} { // a week, and its days
					c.measure(t, 0, timegrid.Hour.Floor(time.Now().Add(-at)))
				}
			}
			c.settle(t)
			(&stage{TB: t, Store: c.Store}).quieten(of.Raw + time.Minute)
			if _, err := c.Seal(t.Context()); err != nil {
				t.Fatal(err)
			}
			for table, want := range map[string]struct {
				kept, width time.Duration
				left        int
			}{"block_minutes": {kept.Minutes, time.Hour, 1}, "block_hours": {kept.Hours, day, 3}, "block_days": {kept.Days, 7 * day, 5}} {
				over := func(kind string) int {
					return c.count(t, `SELECT count(*) FROM `+table+` b JOIN measured_series s ON s.id = b.series_id WHERE s.kind = $1 AND b.start < now() - $2::interval`, kind, want.kept+want.width)
				}
				if n := over(codec.Activity); n != 0 {
					t.Errorf("%d rows of %s are left that are over", n, table)
				}
				if n := over(codec.Sessions); n == 0 {
					t.Errorf("sessions of %s are gone, too", table)
				}
				if n := c.count(t, `SELECT count(*) FROM `+table+` b JOIN measured_series s ON s.id = b.series_id WHERE s.kind = 'activity'`); n != want.left {
					t.Errorf("%d rows of %s are left, want %d", n, table, want.left)
				}
			}
		})
	}
}

// TestAnOpenWeekKeepsItsActivity: an hour that still takes samples is part of its day, which is made anew of the
// hours, and counts once.
func TestAnOpenWeekKeepsItsActivity(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	c.ledger.Retention = otherRetentions["shorter"]
	at := timegrid.Hour.Floor(time.Now().Add(-c.ledger.Retention.Activity.Hours - 60*day))
	c.measure(t, 0, at)
	c.settle(t)
	c.compact(t)
	if err := c.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.measure(t, 0, at.Add(time.Minute))
	c.settle(t)
	series, err := c.inScope(t.Context(), c.id, codec.Activity, fleet.PostgreSQL, fleet.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	w := windowOf(timegrid.Window{From: at, To: at.Add(1), Size: timegrid.Day})
	samples := map[uuid.UUID]uint64{}
	err = c.eachActivity(t.Context(), w, series, func(_ uuid.UUID, start time.Time, row *codec.ActivityRow) error {
		for slot := range w.slots(start) {
			if _, err := row.EachSamples(slot, func(database uuid.UUID, n codec.Samples) { samples[database] += n.Told }); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || samples[c.databases[0]] != 2 {
		t.Errorf("%v samples count, want 2: %v", samples, err)
	}
}

// TestAWindowBeforeTheRetentionOfActivityIsRefused: the same window has no gaps for figures.
func TestAWindowBeforeTheRetentionOfActivityIsRefused(t *testing.T) {
	t.Parallel()
	for name, of := range otherRetentions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCompany(t)
			c.ledger.Retention = of
			for size, kept := range map[timegrid.Size]time.Duration{timegrid.Minute: of.Activity.Minutes, timegrid.Hour: of.Activity.Hours, timegrid.Day: of.Activity.Days, timegrid.Week: of.Activity.Days} {
				asks := func(age time.Duration) error {
					from := size.Floor(time.Now().Add(-age))
					w := timegrid.Window{From: from, To: from.Add(2 * size.Width()), Size: size}
					_, err := c.Activity(t.Context(), c.id, fleet.PostgreSQL, fleet.Scope{}, w, measurements.ActivityQuery{By: measurements.DimState})
					_, also := c.Deadlocks(t.Context(), c.id, fleet.PostgreSQL, fleet.Scope{}, w, 1)
					if (err == nil) != (also == nil) {
						t.Errorf("activity: %v, deadlocks: %v", err, also)
					}
					return err
				}
				var notKept *measurements.NotKeptError
				if err := asks(kept + 2*size.Width()); !errors.As(err, &notKept) {
					t.Errorf("%s of before: %v", size, err)
				}
				if err := asks(kept - 2*size.Width()); err != nil {
					t.Errorf("%s that are kept: %v", size, err)
				}
			}
		})
	}
}

// TestRowsOfWholesAreDeletedAfterTheRetention, as the blocks of their series do, and not sooner.
func TestRowsOfWholesAreDeletedAfterTheRetention(t *testing.T) {
	t.Parallel()
	for name, of := range otherRetentions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCompany(t)
			c.ledger.Retention = of
			var ages []time.Duration
			for _, kept := range []time.Duration{of.Minutes, of.Hours, of.Activity.Minutes, of.Activity.Hours} {
				ages = append(ages, kept-2*day, kept+2*day)
			}
			younger := func(kept time.Duration) (n int) {
				for _, age := range ages {
					if age < kept {
						n++
					}
				}
				return n
			}
			for _, age := range ages {
				c.measure(t, 0, timegrid.Hour.Floor(time.Now().Add(-age)))
			}
			c.settle(t)
			(&stage{TB: t, Store: c.Store}).quieten(of.Raw + time.Minute)
			if _, err := c.Seal(t.Context()); err != nil {
				t.Fatal(err)
			}
			for width, want := range map[string]struct{ rows, activity int }{
				"1h": {younger(of.Minutes), younger(of.Activity.Minutes)}, "1d": {younger(of.Hours), younger(of.Activity.Hours)},
			} {
				if n := wholeRowsOf(t, c.db, width); n != want.rows {
					t.Errorf("%d rows of %s are left, want %d", n, width, want.rows)
				}
				if n := c.count(t, `SELECT count(*) FROM whole_activity WHERE dimension = 'user' AND width = $1`, width); n != want.activity {
					t.Errorf("%d rows of %s of activity are left, want %d", n, width, want.activity)
				}
			}
		})
	}
}

func wholeRowsOf(t *testing.T, db *sqlx.DB, width string) (n int) {
	t.Helper()
	if err := db.GetContext(t.Context(), &n, `SELECT count(*) FROM whole_rows WHERE kind = 'host' AND width = $1`, width); err != nil {
		t.Fatal(err)
	}
	return n
}
