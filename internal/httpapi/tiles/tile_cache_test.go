package tiles

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"muster/domain/timegrid"
	"muster/internal/httpapi/wire"
	"muster/internal/measurements"
	"muster/internal/testing/clocktest"
)

// shelf is a cache whose tiles count how often they were read.
type shelf struct {
	*tileCache
	clock *clocktest.Clock
	said  bytes.Buffer
	reads int
}

func newShelf() *shelf {
	s := &shelf{clock: clocktest.At(time.Date(2026, 11, 20, 11, 37, 2, 0, time.UTC))}
	s.tileCache = newTileCache(s.clock.Now, slog.New(slog.NewTextHandler(&s.said, nil)))
	return s
}

// read reads a tile of so many bytes.
func (s *shelf) read(size int) func(context.Context) (*tile, error) {
	return func(context.Context) (*tile, error) {
		s.reads++
		return &tile{readAt: s.clock.Now(), shown: make([]byte, size)}, nil
	}
}

func (s *shelf) mustGet(t *testing.T, key string, read func(context.Context) (*tile, error)) *tile {
	t.Helper()
	got, err := s.get(t.Context(), key, read)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestATileIsKeptForHalfAMinute(t *testing.T) {
	t.Parallel()
	s := newShelf()
	first := s.mustGet(t, "a", s.read(1))
	for _, step := range []struct {
		passes time.Duration
		reads  int
	}{
		{0, 1}, {29*time.Second + 999*time.Millisecond, 1}, {time.Millisecond, 2}, {time.Second, 2},
		{-2 * time.Second, 3}, // the clock was put back before the tile was read
	} {
		s.clock.Advance(step.passes)
		if s.mustGet(t, "a", s.read(1)); s.reads != step.reads {
			t.Errorf("%s later: read %d times, want %d", step.passes, s.reads, step.reads)
		}
	}
	if again := s.mustGet(t, "a", s.read(1)); again == first {
		t.Error("the first tile is answered still")
	}
	if s.mustGet(t, "b", s.read(1)); s.reads != 4 {
		t.Errorf("another key's tile was read %d times", s.reads-3)
	}
	if len(s.kept) != 2 || s.order.Len() != 2 || s.bytes != 2*len("ab") {
		t.Errorf("%d and %d are kept, of %d bytes", len(s.kept), s.order.Len(), s.bytes)
	}
}

// TestIncompleteTilesAreNotCached: an error, a panic, and a tile that an engine is missing in.
func TestIncompleteTilesAreNotCached(t *testing.T) {
	t.Parallel()
	s := newShelf()
	broken := errors.New("no database")
	if _, err := s.get(t.Context(), "a", func(context.Context) (*tile, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("failed with %v", err)
	}
	_, err := s.get(t.Context(), "a", func(context.Context) (*tile, error) { panic("spilled") })
	if p, ok := wire.AsProblem(err); !ok || p.StatusCode() != 500 || strings.Contains(err.Error(), "spilled") {
		t.Errorf("a panic is told as %v", err)
	}
	if said := s.said.String(); strings.Count(said, "spilled") != 1 || !strings.Contains(said, "tile_cache_test.go") {
		t.Errorf("of the panic the log says %s", said)
	}
	for range 2 {
		got := s.mustGet(t, "a", func(context.Context) (*tile, error) {
			s.reads++
			return &tile{readAt: s.clock.Now(), incomplete: true}, nil
		})
		if !got.incomplete {
			t.Error("what is incomplete was not answered")
		}
	}
	now := s.clock.Now()
	w := timegrid.Window{From: now.Truncate(time.Minute).Add(-time.Hour), To: now.Truncate(time.Minute).Add(time.Minute), Size: timegrid.Minute}
	for range 2 {
		s.mustGet(t, "a", func(context.Context) (*tile, error) {
			s.reads++
			return newTile(w, s.clock.Now(), false, []line{{"locks", measurements.Gaps(w.Len())}, {"io", measurements.Gaps(w.Len())}})
		})
	}
	if s.reads != 4 || len(s.kept) != 0 || s.bytes != 0 {
		t.Errorf("read %d times, %d kept", s.reads, len(s.kept))
	}
	s.mustGet(t, "a", func(context.Context) (*tile, error) {
		return newTile(w, s.clock.Now(), false, []line{{"locks", measurements.Gaps(w.Len())}, {"io", append(measurements.Gaps(w.Len()-1), 0)}})
	})
	if len(s.kept) != 1 {
		t.Error("a tile with one value is not kept")
	}
	s.mustGet(t, "b", func(context.Context) (*tile, error) {
		return newTile(w, w.End(), false, []line{{"locks", measurements.Gaps(w.Len())}})
	})
	if len(s.kept) != 2 {
		t.Error("a tile of a time that is over is not kept")
	}
}

// TestTheOldestTilesAreEvictedFirst, when there is no room for more, by number or by size.
func TestTheOldestTilesAreEvictedFirst(t *testing.T) {
	t.Parallel()
	s := newShelf()
	const quarter = maxTileBytes / 4
	for _, key := range []string{"a", "b", "c", "d", "a", "e"} {
		s.mustGet(t, key, s.read(quarter-1))
	}
	for key, there := range map[string]bool{"a": false, "b": true, "c": true, "d": true, "e": true} {
		if (s.find(key) != nil) != there {
			t.Errorf("%s is kept: %v", key, !there)
		}
	}
	if s.mustGet(t, "wide", s.read(maxTileBytes)); s.find("wide") != nil || s.bytes != 0 {
		t.Errorf("what is wider than all the room is kept, %d bytes", s.bytes)
	}
	for i := range maxTiles + 10 {
		s.mustGet(t, fmt.Sprint(i), s.read(0))
	}
	if len(s.kept) != maxTiles || s.order.Len() != maxTiles || s.find("9") != nil || s.find("10") == nil {
		t.Errorf("%d and %d are kept", len(s.kept), s.order.Len())
	}
}

// TestConcurrentCallersShareOneRead: however many ask at once, and whoever of them gives up. The
// reading itself goes on, and has an end of its own.
func TestConcurrentCallersShareOneRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		type valued struct{}
		release := make(chan struct{})
		var during error
		read := func(ctx context.Context) (*tile, error) {
			s.reads++
			<-release
			during = ctx.Err()
			if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > tileTimeout || ctx.Value(valued{}) != "first" {
				t.Errorf("reads until %v, for %v", deadline, ctx.Value(valued{}))
			}
			return &tile{readAt: s.clock.Now(), incomplete: true}, nil // not kept: who gets it was there in time
		}
		impatient, giveUp := context.WithCancel(context.WithValue(t.Context(), valued{}, "first"))
		gone := make(chan error, 1)
		go func() {
			_, err := s.get(impatient, "a", read)
			gone <- err
		}()
		synctest.Wait()
		got := make(chan *tile, 20)
		for range cap(got) {
			go func() {
				one, err := s.get(t.Context(), "a", read)
				if err != nil {
					t.Error(err)
				}
				got <- one
			}()
		}
		synctest.Wait()
		giveUp()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("who gave up is told %v", err)
		}
		close(release)
		first := <-got
		for range cap(got) - 1 {
			if another := <-got; another != first {
				t.Error("two tiles of one reading")
			}
		}
		if s.reads != 1 || during != nil {
			t.Errorf("read %d times, and the reading ended with %v", s.reads, during)
		}
	})
}

// TestAHangingReadEnds, and the next one begins anew.
func TestAHangingReadEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		_, err := s.get(t.Context(), "a", func(ctx context.Context) (*tile, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ended with %v", err)
		}
		if s.mustGet(t, "a", s.read(1)); s.reads != 1 {
			t.Errorf("read %d times", s.reads)
		}
	})
}
