package pgstore

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"muster/domain/timegrid"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/ledger"
	"muster/internal/measurements/pgstore/writing"
)

// TestTheHeadIsBounded: for series whose blocks are away it accepts samples for a day, then
// they are refused, and no others are. When blocks are back, all of it is put there, and
// refused samples are accepted however late they are.
func TestTheHeadIsBounded(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	away := &halfAway{s.ledger.Blocks, map[string]bool{}}
	s.ledger.Blocks = away
	if _, err := s.attend(t.Context()); err != nil {
		t.Fatal(err)
	}
	young := timegrid.Hour.Floor(time.Now().Add(-30 * time.Hour))
	for _, kind := range []string{codec.Hosts, codec.Sessions, codec.Statements} {
		s.write(measured(kind, "here", young, 5), measured(kind, "there", young, 5))
	}
	s.roll()
	away.away["there"], away.away["born there"] = true, true
	compact := func(want int) {
		t.Helper()
		s.roll()
		s.quieten(11 * time.Minute)
		n, err := s.Compact(t.Context())
		var refused *blocks.UnavailableError
		if n != want || !errors.As(err, &refused) {
			t.Fatalf("%d hours are compacted, want %d: %v", n, want, err)
		}
		s.quieten(-11 * time.Minute)
	}
	s.waits(0, 0)
	s.write(measured(codec.Sessions, "born there", young, 5)) // which cannot be rolled up even
	compact(3)
	s.waits(4, 0)

	s.passes(ledger.HeadBound - time.Minute)
	for hour := range 3 {
		at := young.Add(time.Duration(20+hour) * time.Hour)
		s.write(measured(codec.Sessions, "here", at, 1), measured(codec.Sessions, "there", at, 1))
	}
	compact(3)
	s.waits(4, ledger.HeadBound-time.Minute)
	s.passes(2 * time.Minute)
	at := young.Add(23*time.Hour + 30*time.Minute)
	late := measured(codec.Sessions, "there", at, 9)
	var refused *blocks.UnavailableError
	if _, err := s.try(measured(codec.Sessions, "here", at, 9), late); !errors.As(err, &refused) || !errors.Is(err, writing.ErrHeadBound) {
		t.Fatalf("more than a day waits: %v", err)
	}
	s.write(measured(codec.Sessions, "here", at, 9), measured(codec.Sessions, "new", at, 9))
	s.exec(`UPDATE intake_presence SET back_at = back_at - interval '2 hours', seen_at = seen_at - interval '2 hours'`)
	s.arrives("") // nothing is noted
	compact(2)

	clear(away.away)
	s.exec(`UPDATE dirty_hours SET due = now()`)
	s.rollAll()
	if n := s.compact(); n != 7 {
		t.Errorf("%d hours are compacted when their blocks are back, want 7", n)
	}
	s.waits(0, 0)
	s.arrives(wasAway) // so that nothing is sealed before what was refused has come
	s.write(late)
	s.rollAll()
	s.compact()
	s.check()
	if n := s.count(`SELECT count(*) FROM head_minutes`); n != 0 {
		t.Errorf("%d hours are left in the head", n)
	}
}

// passes lets time pass for what waits for blocks.
func (s *stage) passes(by time.Duration) {
	s.Helper()
	s.exec(`UPDATE series_away SET since = since - make_interval(secs => $1)`, by.Seconds())
	s.exec(`UPDATE dirty_hours SET since = since - make_interval(secs => $1), due = due - make_interval(secs => $1)`, by.Seconds())
}

// waits fails the test unless as many series have waited for blocks for that long.
func (s *stage) waits(series int, since time.Duration) {
	s.Helper()
	is, err := s.Waiting(s.Context())
	if err != nil || is.Series != series || is.Since < since || is.Since > since+time.Minute {
		s.Errorf("%+v waits, want %d series since %s: %v", is, series, since, err)
	}
}

// tryCompact puts into blocks what is over and can be, as if nothing had come for a while.
func (s *stage) tryCompact() {
	s.Helper()
	s.quieten(11 * time.Minute)
	var refused *blocks.UnavailableError
	if _, err := s.Compact(s.Context()); err != nil && !errors.As(err, &refused) {
		s.Fatal(err)
	}
	s.quieten(-11 * time.Minute)
}

// TestASeriesWaitsNoLongerThanItsHours: a series whose open hour needs blocks that are away
// waits until that hour is rolled up, and not until it is over and put into blocks itself.
func TestASeriesWaitsNoLongerThanItsHours(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	away := &halfAway{s.ledger.Blocks, map[string]bool{"there": true}}
	s.ledger.Blocks = away
	at := timegrid.Minute.Floor(time.Now())
	s.write(measured(codec.Sessions, "here", at, 5), measured(codec.Sessions, "there", at, 5))
	for try := range 3 {
		s.roll()
		s.compact()
		s.waits(1, time.Duration(try)*31*time.Second)
		s.passes(31 * time.Second)
	}
	clear(away.away)
	s.rollAll()
	s.write(measured(codec.Sessions, "there", at, 5, 7)) // of the hour that goes on something always comes
	s.compact()
	s.waits(0, 0)
	s.rollAll()
	s.check()
}

// TestASeriesWithLateSamplesWaitsOnlyWhileItsBlocksAreUnreachable: an hour that is over is put there at the
// first try after its blocks are back, although a late sample came just now.
func TestASeriesWithLateSamplesWaitsOnlyWhileItsBlocksAreUnreachable(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	away := &halfAway{s.ledger.Blocks, map[string]bool{}}
	s.ledger.Blocks = away
	over := timegrid.Hour.Floor(time.Now().Add(-5 * time.Hour))
	s.write(measured(codec.Sessions, "there", over, 5))
	s.roll()
	away.away["there"] = true
	s.tryCompact()
	s.waits(1, 0)
	s.write(measured(codec.Sessions, "there", over.Add(2*time.Minute), 1))
	clear(away.away)
	s.passes(31 * time.Second)
	s.rollAll()
	if _, err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.waits(0, 0)
	s.write(measured(codec.Sessions, "there", over.Add(3*time.Minute), 2)) // and the hour takes more
	s.rollAll()
	s.compact()
	s.check()
}

// TestASeriesWaitsWhileAnyOfItsHoursDoes: the day after which samples are refused goes on from
// when the series began to wait, whatever else becomes of its hours.
func TestASeriesWaitsWhileAnyOfItsHoursDoes(t *testing.T) {
	t.Parallel()
	over := timegrid.Hour.Floor(time.Now().Add(-5 * time.Hour))
	for name, then := range map[string]func(s *stage){
		"nothing else happens": func(*stage) {},
		"a late sample came": func(s *stage) {
			s.write(measured(codec.Sessions, "there", over.Add(2*time.Minute), 1))
			s.roll()
		},
		"a late sample is not rolled up yet": func(s *stage) {
			s.write(measured(codec.Sessions, "there", over.Add(2*time.Minute), 1))
		},
		"the database crashed": func(s *stage) { s.crash() },
		"the database crashed, and the hour cannot be made anew": func(s *stage) {
			s.crash()
			s.roll()
		},
		"rolling it up failed in between": func(s *stage) {
			s.crash()
			s.fault = func(step string) error { return map[string]error{"roll": errors.New("torn")}[step] }
			s.roll()
			s.fault = nil
			s.exec(`UPDATE dirty_hours SET due = now()`)
			s.roll() // which needs blocks, and that is why it waits now
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			away := &halfAway{s.ledger.Blocks, map[string]bool{}}
			s.ledger.Blocks = away
			s.write(measured(codec.Sessions, "there", over, 5))
			s.roll()
			away.away["there"] = true
			s.tryCompact()
			s.passes(ledger.HeadBound - time.Minute)
			then(s)
			for range 2 {
				another := s.another() // which does not reach them either
				another.ledger.Blocks = away
				if _, err := another.Compact(t.Context()); err != nil {
					var refused *blocks.UnavailableError
					if !errors.As(err, &refused) {
						t.Fatal(err)
					}
				}
			}
			s.waits(1, ledger.HeadBound-time.Minute)

			clear(away.away)
			s.passes(time.Minute)
			s.rollAll()
			s.compact()
			s.waits(0, 0)
			s.check()
		})
	}
}

// backFor is a store of blocks that is back, but only for some hours' minutes.
type backFor struct {
	blocks.Store
	hours map[time.Time]bool
}

func (b *backFor) Put(ctx context.Context, tx *sqlx.Tx, table blocks.Table, of []blocks.Block) error {
	for _, one := range of {
		if table == blocks.Minutes && !b.hours[one.Start.UTC()] {
			return &blocks.UnavailableError{Part: "a shard", Err: errors.New("connection refused")}
		}
	}
	return b.Store.Put(ctx, tx, table, of)
}

// TestBlocksThatAreReachableForAMoment give no series another day: it has waited for as long as the
// oldest hour that is left.
func TestBlocksThatAreReachableForAMoment(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	back := &backFor{s.ledger.Blocks, map[time.Time]bool{}}
	s.ledger.Blocks = back
	now := timegrid.Hour.Floor(time.Now())
	hours := []time.Time{now.Add(-30 * time.Hour), now.Add(-28 * time.Hour), now.Add(-3 * time.Hour)}
	for _, at := range hours {
		s.write(measured(codec.Sessions, "there", at, 5))
	}
	s.rollAll()
	s.tryCompact()
	s.passes(ledger.HeadBound - 2*time.Minute)
	back.hours[hours[0]] = true
	s.tryCompact()
	s.waits(1, ledger.HeadBound-2*time.Minute)
	s.passes(3 * time.Minute)
	if _, err := s.try(measured(codec.Sessions, "there", hours[2].Add(time.Minute), 1)); !errors.Is(err, writing.ErrHeadBound) {
		t.Errorf("an hour has waited for more than a day, and a sample is answered %v", err)
	}
	back.hours[hours[1]] = true
	s.tryCompact()
	s.waits(1, time.Since(hours[2].Add(70*time.Minute)).Truncate(time.Minute))
	s.write(measured(codec.Sessions, "there", hours[2].Add(2*time.Minute), 2))
	back.hours[hours[2]] = true
	s.rollAll()
	s.tryCompact()
	s.waits(0, 0)
	s.check()
}

// TestTwoProcessesFindBlocksUnreachable: one looks which series no longer wait while the other is about to note
// that a series does.
func TestTwoProcessesFindBlocksUnreachable(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	away := &halfAway{s.ledger.Blocks, map[string]bool{"there": true}}
	s.ledger.Blocks = away
	s.write(measured(codec.Sessions, "there", timegrid.Minute.Floor(time.Now()), 5))
	held, err := s.db.BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Rollback() }()
	if _, err := held.ExecContext(t.Context(), `SELECT FROM dirty_hours FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	rolled := make(chan error, 1)
	go func() {
		_, err := s.Roll(t.Context())
		rolled <- err
	}()
	awaitWaiter(s) // to postpone the hour
	another := s.another()
	if _, err := another.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := held.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-rolled; err != nil {
		t.Fatal(err)
	}
	s.waits(1, 0)
	s.passes(time.Hour)
	clear(away.away)
	var both errgroup.Group
	for _, process := range []*Store{s.Store, another, s.another()} {
		both.Go(func() error {
			_, rolled := process.Roll(t.Context())
			_, put := process.Compact(t.Context())
			return errors.Join(rolled, put)
		})
	}
	if err := both.Wait(); err != nil {
		t.Fatal(err)
	}
	s.rollAll()
	s.compact()
	s.waits(0, 0)
	s.check()
}

// TestABusySeriesWithUnreachableBlocks waits for them like any other, and others are made anew after a crash.
func TestABusySeriesWithUnreachableBlocks(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.ledger.Blocks = &halfAway{s.ledger.Blocks, map[string]bool{"there": true}}
	s.write(measured(codec.Sessions, "there", timegrid.Minute.Floor(time.Now()), 5))
	s.exec(`UPDATE dirty_hours SET since = since - interval '1 minute'`)
	writer, err := s.db.BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = writer.Rollback() }()
	if _, err := writer.ExecContext(t.Context(), `SELECT FROM measured_series FOR NO KEY UPDATE`); err != nil {
		t.Fatal(err)
	}
	rolled := make(chan error, 1)
	go func() {
		_, err := s.Roll(t.Context())
		rolled <- err
	}()
	awaitWaiter(s)
	if err := writer.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-rolled; err != nil {
		t.Error(err)
	}
	s.waits(1, 0)
	if n := s.count(`SELECT count(*) FROM dirty_hours WHERE due > now()`); n != 1 {
		t.Errorf("%d hours are postponed, want one", n)
	}
}
