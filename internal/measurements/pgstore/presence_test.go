package pgstore

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/ledger"
)

// pass lets time pass in which samples can be sent, or cannot.
func (s *stage) pass(d time.Duration, there bool) {
	s.Helper()
	s.quieten(d)
	s.exec(`UPDATE intake_presence SET back_at = back_at - make_interval(secs => $1), seen_at = CASE WHEN $2 THEN now() ELSE seen_at - make_interval(secs => $1) END`, d.Seconds(), there)
}

// arrives notes that samples can be sent, and compares how that came about.
func (s *stage) arrives(want arrival) {
	s.Helper()
	if how, err := s.attend(s.Context()); err != nil || how != want {
		s.Errorf("arrived: %q (%v), want %q", how, err, want)
	}
}

// seals compares how many hours are.
func (s *stage) seals(want int, when string) {
	s.Helper()
	if n := s.seal(); n != want {
		s.Errorf("%s %d hours are sealed, want %d", when, n, want)
	}
}

// TestSealingAfterAnAbsence waits until six hours after it: samples that senders kept during it
// come late, and are right in every bucket. Without an absence, sealing is as usual.
func TestSealingAfterAnAbsence(t *testing.T) {
	t.Parallel()
	const hour = time.Hour
	for _, away := range []time.Duration{71 * hour, 3*24*hour + 7*time.Minute} {
		s := newStage(t)
		late := func(number int64, hours ...int) {
			t.Helper()
			for i, h := range hours {
				at := past.Add(time.Duration(h)*hour + time.Duration(30+i)*time.Minute)
				for _, kind := range []string{codec.Hosts, codec.Sessions, codec.Statements} {
					s.write(measured(kind, "a", at, number))
				}
			}
			s.roll()
			s.check()
		}
		s.write(measured(codec.Sessions, "quiet", past, 1))
		for _, kind := range []string{codec.Hosts, codec.Sessions, codec.Statements} {
			s.write(measured(kind, "a", past, 5)) // the beginning of an hour, and then nobody was there
		}
		s.roll()
		s.pass(2*hour, true)
		s.pass(away, false)
		s.seals(0, "while nobody is there")
		s.arrives(wasAway)
		s.seals(0, "when somebody is")
		late(7, 0, 0, 1, 70)
		s.arrives(stillHere)
		s.pass(6*hour-time.Minute, true)
		s.seals(0, "a minute before the six hours are over")
		late(9, 0, 30)
		s.pass(2*time.Minute, true)
		s.seals(1, "after six hours") // what nothing came late of
		late(11, 0, 2)
		s.pass(ledger.Standard.Raw+time.Minute, true)
		if s.seal() == 0 || s.raw() != 0 {
			t.Errorf("away for %s: %d raw samples are never sealed", away, s.raw())
		}
	}
}

// TestSealingWithoutAnAbsence is as usual: a start that took less than an hour is none,
// whatever came before.
func TestSealingWithoutAnAbsence(t *testing.T) {
	t.Parallel()
	for _, away := range []time.Duration{0, time.Minute, 59 * time.Minute} {
		s := newStage(t)
		s.write(measured(codec.Sessions, "a", past, 1))
		s.roll()
		s.pass(ledger.Standard.Raw+time.Minute, true)
		s.pass(away, false)
		s.arrives(stillHere)
		s.seals(1, away.String()+" away:")
	}
}

// TestAFirstStart, and a start on a database without a record of the last intake, are as after
// an absence.
func TestAFirstStart(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.exec(`DELETE FROM intake_presence`)
	s.write(measured(codec.Sessions, "a", past, 1))
	s.roll()
	s.quieten(ledger.Standard.Raw + time.Minute)
	s.seals(0, "before the first start")
	s.arrives(firstEver)
	s.seals(0, "at the first start")
	s.pass(6*time.Hour, true)
	s.seals(1, "six hours later")
}

// TestAClockThatWasAhead does not keep hours open until that time comes.
func TestAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.write(measured(codec.Sessions, "a", past, 1))
	s.roll()
	s.quieten(ledger.Standard.Raw + time.Minute)
	s.exec(`UPDATE intake_presence SET seen_at = now() + interval '3 years', back_at = now() + interval '3 years'`)
	s.arrives(clockAhead)
	s.arrives(stillHere)
	s.pass(6*time.Hour, true)
	s.seals(1, "six hours later")
}

// TestAnArrivalExplainsWhySealingWaits, and says nothing at a first start or while a process was there.
func TestAnArrivalExplainsWhySealingWaits(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var said bytes.Buffer
	s.ledger.Log = slog.New(slog.NewTextHandler(&said, nil))
	for _, c := range []struct{ before, says string }{
		{`DELETE FROM intake_presence`, ""},
		{`UPDATE intake_presence SET back_at = now() - interval '2 days', seen_at = now() - interval '59 minutes'`, ""},
		{`UPDATE intake_presence SET seen_at = now() - interval '61 minutes'`, "were not taken in for more than an hour"},
		{`UPDATE intake_presence SET seen_at = now() + interval '1 day', back_at = now() + interval '1 day'`, "the database's clock was set back"},
	} {
		said.Reset()
		s.exec(c.before)
		s.noteAttendance(t.Context())
		if got := said.String(); c.says == "" && got != "" || !strings.Contains(got, c.says) {
			t.Errorf("after %s it says %q, want %q", c.before, got, c.says)
		}
	}
}

// TestOneRunningReplicaPreventsAnAbsence, and replicas that come back at the same time record the same.
func TestOneRunningReplicaPreventsAnAbsence(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.pass(2*time.Hour, false)
	var all sync.WaitGroup
	var back atomic.Int32
	for range 8 {
		all.Go(func() {
			if is, err := s.attend(t.Context()); err != nil {
				t.Error(err)
			} else if is == wasAway {
				back.Add(1)
			}
		})
	}
	all.Wait()
	if n := back.Load(); n != 1 {
		t.Errorf("%d of 8 found that nobody had been there", n)
	}
	for range 3 { // one replica stays away
		s.pass(40*time.Minute, true)
		s.arrives(stillHere)
	}

	s.exec(`UPDATE intake_presence SET seen_at = now() - interval '2 hours', back_at = now() - interval '9 hours'`)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Attend(ctx) }()
	for s.count(`SELECT count(*) FROM intake_presence WHERE back_at > now() - interval '1 hour'`) == 0 {
		if t.Context().Err() != nil {
			t.Fatal("nobody attends")
		}
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestTilesAfterAnAbsence: samples that a sender kept during an absence have the effect of
// samples sent at once, in every table from which a tile is read.
func TestTilesAfterAnAbsence(t *testing.T) {
	t.Parallel()
	organization, instance, databases := uuid.New(), uuid.New(), []uuid.UUID{uuid.New(), uuid.New()}
	var looks []measurements.Batch
	for minute := range 75 {
		looks = append(looks, lookAt(organization, instance, "db1", databases, past.Add(time.Duration(minute)*time.Minute)))
	}
	roll := func(s *Store) {
		t.Helper()
		if _, err := s.Roll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	twin := newStore(t)
	for _, b := range looks {
		write(t, twin, b)
	}
	roll(twin)
	want := contents(t, twin)
	for _, away := range []time.Duration{71 * time.Hour, 3*24*time.Hour + time.Hour} {
		s := &stage{TB: t, Store: newStore(t)}
		for _, b := range looks[:40] { // 20 minutes of the first hour are missing
			write(t, s.Store, b)
		}
		roll(s.Store)
		s.pass(2*time.Hour, true)
		s.pass(away, false)
		s.seals(0, "while nobody is there")
		s.arrives(wasAway)
		s.seals(0, "when somebody is")
		for _, b := range looks[40:65] {
			write(t, s.Store, b)
		}
		s.pass(6*time.Hour-time.Minute, true)
		s.seals(0, "almost six hours later")
		for _, b := range looks[60:] {
			write(t, s.Store, b)
		}
		roll(s.Store)
		if diff := gocmp.Diff(want, contents(t, s.Store)); diff != "" {
			t.Errorf("away for %s (-twin +late):\n%.2000s", away, diff)
		}
	}
}
