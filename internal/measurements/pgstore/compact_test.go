package pgstore

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/domain/timegrid"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/compaction"
	"muster/internal/measurements/pgstore/tables"
)

// counted is a store of blocks that says how many bytes came at once.
type counted struct {
	blocks.Store
	puts []int // of raw samples
}

func (c *counted) Put(ctx context.Context, tx *sqlx.Tx, table blocks.Table, of []blocks.Block) error {
	if table == blocks.Raw && len(of) > 0 {
		size := 0
		for _, b := range of {
			size += len(b.Body)
		}
		c.puts = append(c.puts, size)
	}
	return c.Store.Put(ctx, tx, table, of)
}

// TestPacksAreBounded: hours are put together, so that each Put is worth it, and large ones
// in pieces, so that they are not in memory all at once. What comes out is what was there.
func TestPacksAreBounded(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	store := &counted{Store: s.ledger.Blocks}
	s.ledger.Blocks = store
	hour := timegrid.Hour.Floor(time.Now().Add(-30 * time.Hour))
	compact := func(prefix string, size, want int) {
		t.Helper()
		store.puts = nil
		const count = 150
		kinds := []string{codec.Hosts, codec.Sessions, codec.Statements}
		var arrived []codec.Arrival
		for n := range count {
			arrived = append(arrived, measured(kinds[n%len(kinds)], fmt.Sprint(prefix, n), hour, int64(n)))
		}
		s.write(arrived...)
		s.roll()
		bodies := make(map[string][]byte)
		for n := range count {
			body := make([]byte, size)
			for i := range body {
				body[i] = byte(rand.Uint32())
			}
			subject := fmt.Sprint(prefix, n)
			bodies[subject] = body
			s.exec(`UPDATE raw_samples SET body = $1 WHERE series_id = (SELECT id FROM measured_series WHERE subject = $2)`, body, subject)
		}
		s.quieten(11 * time.Minute)
		if n, err := s.Compact(t.Context()); err != nil || n != count {
			t.Fatalf("%d hours are compacted: %v", n, err)
		}
		if len(store.puts) != want {
			t.Errorf("raw samples are put in pieces of %d bytes, want %d pieces", store.puts, want)
		}
		for _, put := range store.puts {
			if most := compaction.PackedBytes + compaction.PackGroup*(size+100); put > most {
				t.Errorf("%d bytes are put at once, more than %d", put, most)
			}
		}
		for subject, body := range bodies {
			var of tables.Series
			if err := s.db.Get(&of, `SELECT id AS series_id, organization_id, kind, subject, engine FROM measured_series WHERE subject = $1`, subject); err != nil {
				t.Fatal(err)
			}
			r := blocks.Range{Series: of.Block(), From: hour, To: hour.Add(time.Hour)}
			read := 0
			err := blocks.EachSample(t.Context(), s.ledger.Blocks, nil, []blocks.Range{r}, func(_ int, at time.Time, got []byte) error {
				read++
				if !at.Equal(hour) || !bytes.Equal(got, body) {
					t.Errorf("%s: other bytes", subject)
				}
				return nil
			})
			if err != nil || read != 1 {
				t.Errorf("%s: %d samples, %v", subject, read, err)
			}
		}
	}
	compact("small", 100, 1)
	compact("large", 64<<10, 3)
}
