package pgstore

import (
	"errors"
	"testing"
	"time"

	"muster/domain/timegrid"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
)

// TestTheHeadIsBounded: of series whose blocks are away it takes samples for a day, then
// they are refused, and nobody else is. When blocks are back, all of it is put there, and
// what was refused is taken however late it is.
func TestTheHeadIsBounded(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	away := &halfAway{s.blocks, map[string]bool{}}
	s.blocks = away
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
	passes := func(by time.Duration) {
		s.exec(`UPDATE series_away SET since = since - make_interval(secs => $1)`, by.Seconds())
	}
	waits := func(series int, since time.Duration) {
		t.Helper()
		is, err := s.Waiting(t.Context())
		if err != nil || is.Series != series || is.Since < since || is.Since > since+time.Minute {
			t.Errorf("%+v waits, want %d series since %s: %v", is, series, since, err)
		}
	}
	waits(0, 0)
	s.write(measured(codec.Sessions, "born there", young, 5)) // which cannot be rolled up even
	compact(3)
	waits(4, 0)

	passes(HeadBound - time.Minute)
	for hour := range 3 {
		at := young.Add(time.Duration(20+hour) * time.Hour)
		s.write(measured(codec.Sessions, "here", at, 1), measured(codec.Sessions, "there", at, 1))
	}
	compact(3)
	waits(4, HeadBound-time.Minute)
	passes(2 * time.Minute)
	at := young.Add(23*time.Hour + 30*time.Minute)
	late := measured(codec.Sessions, "there", at, 9)
	var refused *blocks.UnavailableError
	if _, err := s.try(measured(codec.Sessions, "here", at, 9), late); !errors.As(err, &refused) || !errors.Is(err, errHeadBound) {
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
	waits(0, 0)
	s.arrives(wasAway) // so that nothing is sealed before what was refused has come
	s.write(late)
	s.rollAll()
	s.compact()
	s.check()
	if n := s.count(`SELECT count(*) FROM head_minutes`); n != 0 {
		t.Errorf("%d hours are left in the head", n)
	}
}
