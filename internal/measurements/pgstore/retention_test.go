package pgstore

import (
	"context"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/ledger"
)

const day = 24 * time.Hour

// otherRetentions are a shorter and a longer one than the standard.
var otherRetentions = map[string]ledger.Retention{
	"shorter": {Raw: 48 * time.Hour, Minutes: 25 * day, Hours: 200 * day},
	"longer":  {Raw: 120 * time.Hour, Minutes: 60 * day, Hours: 600 * day},
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

// TestAnHourIsSealedByTheRetention of raw samples, and no sooner: until then late samples are
// accepted, and change what is shown.
func TestAnHourIsSealedByTheRetention(t *testing.T) {
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

// TestRawSamplesArePackedByTheRetention: of hours that are younger, and they are unpacked where the
// hour is not sealed within a day of it.
func TestRawSamplesArePackedByTheRetention(t *testing.T) {
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
	before map[blocks.Table]time.Time
}

func (f *blocksForgotten) Forget(_ context.Context, table blocks.Table, before time.Time) error {
	f.before[table] = before
	return nil
}

// TestPackedSamplesGoByTheRetention of raw samples, and an hour later, to which the next looks back.
func TestPackedSamplesGoByTheRetention(t *testing.T) {
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

// TestBlocksGoByTheRetention of minutes and of hours.
func TestBlocksGoByTheRetention(t *testing.T) {
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

// TestRowsOfWholesGoByTheRetention, as the blocks of their series do, and not sooner.
func TestRowsOfWholesGoByTheRetention(t *testing.T) {
	t.Parallel()
	for name, of := range otherRetentions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCompany(t)
			c.ledger.Retention = of
			for _, kept := range []time.Duration{of.Minutes, of.Hours} {
				for _, age := range []time.Duration{kept - 2*day, kept + 2*day} {
					c.measure(t, 0, timegrid.Hour.Floor(time.Now().Add(-age)))
				}
			}
			c.settle(t)
			(&stage{TB: t, Store: c.Store}).quieten(of.Raw + time.Minute)
			if _, err := c.Seal(t.Context()); err != nil {
				t.Fatal(err)
			}
			for width, want := range map[string]int{"1h": 1, "1d": 3} {
				if n := wholeRowsOf(t, c.db, width); n != want {
					t.Errorf("%d rows of %s are left, want %d", n, width, want)
				}
				if n := c.count(t, `SELECT count(*) FROM whole_activity WHERE dimension = 'user' AND width = $1`, width); n != want {
					t.Errorf("%d rows of %s of activity are left, want %d", n, width, want)
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
