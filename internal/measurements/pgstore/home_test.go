package pgstore

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"muster/domain/timegrid"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/placement"
)

// TestBlocksThatMoved: a process whose blocks were moved away stores samples, makes nothing
// from them and reports that once. The process at the new place continues with all of it.
func TestBlocksThatMoved(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, place := range []string{"c/first", "c/d", ""} { // nothing is measured yet
		if err := s.Inhabit(t.Context(), place); err != nil {
			t.Fatalf("inhabit %q: %v", place, err)
		}
	}
	hour := timegrid.Hour.Floor(time.Now().Add(-5 * time.Hour))
	s.write(measured(codec.Hosts, "db01", hour, 5))
	s.roll()
	if n := s.compact(); n != 1 {
		t.Fatalf("%d hours are in blocks", n)
	}
	moved := func(what string, err error) {
		t.Helper()
		var is *placement.MovedError
		if !errors.As(err, &is) || *is != (placement.MovedError{Are: "c/d"}) {
			t.Errorf("%s: %v", what, err)
		}
	}
	s.exec(`UPDATE block_home SET place = 'c/d'`)
	moved("inhabit", s.Inhabit(t.Context(), ""))
	s.write(measured(codec.Hosts, "db01", hour.Add(time.Hour), 7))
	_, err := s.try(measured(codec.Hosts, "db01", hour.Add(time.Minute), 7))
	moved("a late sample", err)
	moved("delete", s.DeleteOrganization(t.Context(), s.org))
	for what, do := range map[string]func(context.Context) (int, error){"roll": s.Roll, "compact": s.Compact, "seal": s.Seal} {
		n, err := do(t.Context())
		if n != 0 {
			t.Errorf("%s did %d", what, n)
		}
		moved(what, err)
	}
	var log bytes.Buffer
	s.ledger.Log = slog.New(slog.NewTextHandler(&log, nil))
	ctx, stop := context.WithCancel(t.Context())
	turns := 0
	_ = s.each(ctx, time.Millisecond, "it failed", func(ctx context.Context) (int, error) {
		if turns++; turns == 3 {
			stop()
		}
		return s.Roll(context.WithoutCancel(ctx))
	})
	if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), "are in ClickHouse, c/d, and this process is set to PostgreSQL") {
		t.Errorf("it said %s", log.String())
	}
	there := s.another()
	if err := there.Inhabit(t.Context(), "c/d"); err != nil {
		t.Fatal(err)
	}
	s.Store = there
	s.write(measured(codec.Hosts, "db01", hour.Add(time.Minute), 7))
	s.rollAll()
	s.compact()
	s.check()
}
