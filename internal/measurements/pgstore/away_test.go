package pgstore

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/domain/timegrid"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/ledger"
)

// halfAway is a store of blocks in which those of some series cannot be reached.
type halfAway struct {
	blocks.Store
	away map[string]bool // by subject
}

func (h *halfAway) refuses(s blocks.Series) error {
	if h.away[s.Subject] {
		return &blocks.UnavailableError{Part: "a shard", Err: errors.New("connection refused")}
	}
	return nil
}

func (h *halfAway) Put(ctx context.Context, tx *sqlx.Tx, table blocks.Table, of []blocks.Block) error {
	for _, b := range of {
		if err := h.refuses(b.Series); err != nil {
			return err
		}
	}
	return h.Store.Put(ctx, tx, table, of)
}

func (h *halfAway) Each(ctx context.Context, tx *sqlx.Tx, table blocks.Table, ranges []blocks.Range, take func(int, time.Time, []byte) error) error {
	for _, r := range ranges {
		if err := h.refuses(r.Series); err != nil {
			return err
		}
	}
	return h.Store.Each(ctx, tx, table, ranges, take)
}

// TestUnreachableBlocksDoNotStopOthers from being rolled up, compacted and sealed. None of their data is lost,
// and reads that need them are refused.
func TestUnreachableBlocksDoNotStopOthers(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	away := &halfAway{s.ledger.Blocks, map[string]bool{}}
	s.ledger.Blocks = away
	young := timegrid.Hour.Floor(time.Now().Add(-5 * time.Hour))
	for _, subject := range []string{"here", "there"} {
		for _, kind := range []string{codec.Hosts, codec.Sessions, codec.Statements} {
			s.write(measured(kind, subject, young, 5), measured(kind, subject, young.Add(time.Minute), 8))
		}
	}
	s.roll()
	if n := s.compact(); n != 6 {
		t.Fatalf("%d hours are in blocks, want 6", n)
	}
	s.write(measured(codec.Sessions, "here", past, 2), measured(codec.Sessions, "there", past, 2))
	s.roll()
	away.away["there"] = true
	s.write(measured(codec.Statements, "here", young.Add(time.Hour), 7), measured(codec.Statements, "there", young.Add(time.Hour), 7))
	s.write(measured(codec.Sessions, "here", young.Add(2*time.Minute), 1))
	var refused *blocks.UnavailableError
	if _, err := s.try(measured(codec.Sessions, "there", young.Add(3*time.Minute), 1)); !errors.As(err, &refused) {
		t.Errorf("a sample of an hour in blocks that are away: %v", err)
	}
	if n := s.roll(); n != 2 {
		t.Errorf("%d hours are rolled up, want the two whose blocks are here", n)
	}
	s.quieten(ledger.Standard.Raw + time.Minute)
	if n, err := s.Compact(t.Context()); n != 3 || !errors.As(err, &refused) {
		t.Errorf("%d hours are compacted, want 3; %v", n, err)
	}
	if n := s.seal(); n != 1 {
		t.Errorf("%d hours are sealed, want one", n)
	}
	away.away["there"] = false
	s.exec(`UPDATE dirty_hours SET due = now()`)
	s.rollAll()
	s.compact()
	s.check()
}
