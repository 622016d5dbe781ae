package pgstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/testing/longtest"
)

// TestAllSizesEqualTheSumsOfTheSamples: whatever arrives, in whatever order and however often, and whenever it
// is rolled up in between, all four sizes are the sums of the samples.
func TestAllSizesEqualTheSumsOfTheSamples(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.ledger.Raw.Young = 8 * time.Hour
	rapid.Check(t, func(r *rapid.T) {
		s.afresh()
		// Hours that meet in a day, a day's end, a week's end, one far away, and two so young
		// that their raw samples are in parts, and packed.
		starts := []time.Time{timegrid.Hour.Floor(time.Now().Add(-5 * time.Hour)), timegrid.Hour.Floor(time.Now().Add(-6 * time.Hour)), monday.Add(23 * time.Hour), monday.Add(24 * time.Hour), monday.Add(167 * time.Hour), monday.Add(168 * time.Hour), monday.Add(-60 * 24 * time.Hour)}
		sampled := rapid.Custom(func(r *rapid.T) codec.Arrival {
			at := rapid.SampledFrom(starts).Draw(r, "hour").Add(
				time.Duration(rapid.IntRange(0, 120).Draw(r, "half minutes")) * 30 * time.Second)
			kind := rapid.SampledFrom([]string{codec.Hosts, codec.Sessions, codec.Statements}).Draw(r, "kind")
			numbers := rapid.SliceOfN(rapid.Int64Range(1, 100), 1, 3).Draw(r, "numbers")
			if kind == codec.Hosts {
				numbers = numbers[:1]
			}
			return measured(kind, rapid.SampledFrom([]string{"a", "b"}).Draw(r, "subject"), at, numbers...)
		})
		for range rapid.IntRange(1, 5).Draw(r, "batches") {
			s.write(distinct(rapid.SliceOfN(sampled, 0, 40).Draw(r, "batch"))...)
			if rapid.Bool().Draw(r, "roll") {
				s.roll()
				s.check()
			}
			if rapid.Bool().Draw(r, "compact") {
				s.compact()
			}
			if rapid.Bool().Draw(r, "empty parts") {
				s.emptyAll()
			}
			if rapid.Bool().Draw(r, "crash") {
				s.crash()
			}
		}
		s.roll()
		s.check()
		if again := s.roll(); again != 0 {
			r.Fatalf("%d hours are rolled up again", again)
		}
	})
}

// distinct leaves one arrival a series and time, as codec.Arrivals does.
func distinct(all []codec.Arrival) []codec.Arrival {
	type key struct {
		keyOfSeries
		at time.Time
	}
	seen := make(map[key]bool)
	var left []codec.Arrival
	for _, a := range all {
		if k := (key{keyOfSeries{a.Kind, a.Subject}, a.At}); !seen[k] {
			seen[k] = true
			left = append(left, a)
		}
	}
	return left
}

// TestTheIntervalBehindALateSample is cut in two, over the end of an hour as well.
func TestTheIntervalBehindALateSample(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.write(measured(codec.Hosts, "a", monday.Add(58*time.Minute), 10), measured(codec.Hosts, "a", monday.Add(66*time.Minute), 100))
	s.roll()
	s.check()
	s.write(measured(codec.Hosts, "a", monday.Add(59*time.Minute), 40))
	s.roll()
	s.check()
	if n := s.count(`SELECT count(*) FROM measured_hours`); n != 2 {
		t.Errorf("%d hours have samples", n)
	}
}

// TestTwoProcessesRollUpDuringWrites: they share the work, and no mark is lost.
func TestTwoProcessesRollUpDuringWrites(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var rollers, writers sync.WaitGroup
	each := 10
	if longtest.Asked() {
		each = 30
	}
	for range 2 {
		process := s.another()
		rollers.Go(func() {
			for ctx.Err() == nil {
				if _, err := process.Roll(ctx); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for writer := range 4 {
		var batches [][]codec.Arrival // that overlap with the other writers'
		random := rand.New(rand.NewPCG(uint64(writer), 0))
		for range each {
			var batch []codec.Arrival
			for range 20 {
				at := monday.Add(time.Duration(random.IntN(4*60)) * 20 * time.Second)
				kind := []string{codec.Hosts, codec.Sessions, codec.Statements}[random.IntN(3)]
				batch = append(batch, measured(kind, fmt.Sprint(random.IntN(3)), at, at.Unix()%1000))
			}
			batches = append(batches, distinct(batch))
			s.remember(batch...)
		}
		writers.Go(func() {
			for _, batch := range batches {
				if _, err := s.try(batch...); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	cancel()
	rollers.Wait()
	s.rollAll()
	s.check()
}

// TestASlowWriter: uncommitted samples are neither rolled up nor lost.
func TestASlowWriter(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.write(measured(codec.Sessions, "a", monday, 1))
	slow, err := s.db.BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	late := measured(codec.Sessions, "a", monday.Add(time.Second), 2)
	if _, _, err := s.Keep(t.Context(), slow, measurements.Batch{Organization: s.org}, []codec.Arrival{late}); err != nil {
		t.Fatal(err)
	}
	if n := s.roll(); n != 0 {
		t.Errorf("%d hours were rolled up under their writer", n)
	}
	s.write(measured(codec.Sessions, "b", monday, 4)) // nobody else has to wait
	if n := s.roll(); n != 1 {
		t.Errorf("%d hours were rolled up, want the other one", n)
	}
	if err := slow.Commit(); err != nil {
		t.Fatal(err)
	}
	s.remember(late)
	if n := s.roll(); n != 1 {
		t.Errorf("%d hours were rolled up after the commit", n)
	}
	s.check()
}

// TestARollThatDies anywhere leaves everything as it was.
func TestARollThatDies(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, step := range []string{"roll", "join", "total"} {
		for n := range 6 {
			s.afresh()
			s.write(measured(codec.Hosts, "a", monday, 1), measured(codec.Hosts, "a", monday.Add(time.Minute), 5),
				measured(codec.Statements, "a", monday, 3, 4), measured(codec.Statements, "a", monday.Add(25*time.Hour), 3))
			before := s.shown()
			ctx, die := context.WithCancel(t.Context())
			seen := 0
			s.fault = func(at string) error {
				if at == step {
					if seen++; seen > n {
						die()
					}
				}
				return nil
			}
			_, err := s.Roll(ctx)
			died := ctx.Err() != nil
			die()
			if died != (err != nil) {
				t.Fatalf("%s %d: died %t, and %v", step, n, died, err)
			}
			if died && len(s.shown()) != len(before) {
				t.Errorf("%s %d: half of a roll is there", step, n)
			}
			s.fault = nil
			s.rollAll()
			s.check()
		}
	}
}

var errBroken = errors.New("broken")

// TestAnHourThatCannotBeRolledUp waits, and the others go on.
func TestAnHourThatCannotBeRolledUp(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, step := range []string{"roll", "join", "total"} {
		s.afresh()
		good := measured(codec.Sessions, "good", monday, 1)
		s.write(good, measured(codec.Statements, "bad", monday, 2))
		s.ledger.Kinds = func(name string) codec.Kind {
			return &abacus{name: name, fault: func(at string) error {
				if name == codec.Statements && at == step {
					return errBroken
				}
				return nil
			}}
		}
		if n := s.roll(); n != 1 {
			t.Errorf("%s: %d hours, want the good one", step, n)
		}
		if n := s.roll(); n != 0 {
			t.Errorf("%s: %d hours, want none", step, n)
		}
		if n := s.count(`SELECT count(*) FROM dirty_hours WHERE failures = 1 AND due > now()`); n != 1 {
			t.Errorf("%s: %d hours wait after one failure, want 1", step, n)
		}
		if behind, err := s.Behind(t.Context()); err != nil || behind <= 0 {
			t.Errorf("%s: behind by %s, %v", step, behind, err)
		}
		s.exec(`UPDATE dirty_hours SET due = now()`)
		s.Store = s.another()
		s.roll()
		s.check()
		if behind, err := s.Behind(t.Context()); err != nil || behind != 0 {
			t.Errorf("%s: behind by %s, %v", step, behind, err)
		}
	}
}

// TestForgottenMinutes are made anew from raw samples, all of their hour.
func TestForgottenMinutes(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.write(measured(codec.Hosts, "a", monday, 1), measured(codec.Hosts, "a", monday.Add(5*time.Minute), 3))
	s.roll()
	s.exec(`DELETE FROM head_minutes`)
	s.write(measured(codec.Hosts, "a", monday.Add(40*time.Minute), 3))
	s.roll()
	s.check()
}
