package pgstore

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/errgroup"

	"muster/domain/timegrid"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/tables"
)

const sizeOfParts = `SELECT coalesce(sum(pg_relation_size(inhrelid)), 0) FROM pg_inherits
	WHERE inhparent = 'raw_samples'::regclass AND inhrelid <> 'raw_samples_rest'::regclass`

// TestPartsAreEmptied gives the disk back when all of a part is in blocks; what is not is
// moved and rolled up as before, and so is what comes late.
func TestPartsAreEmptied(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.ledger.Raw.Young = 8 * time.Hour
	hour := timegrid.Hour.Floor(time.Now().Add(-3 * time.Hour))
	s.write(measured(codec.Sessions, "a", hour, 1, 2), measured(codec.Sessions, "a", hour.Add(40*time.Minute), 3), measured(codec.Hosts, "h", hour, 7))
	s.roll()
	s.write(measured(codec.Sessions, "b", hour.Add(10*time.Minute), 5)) // not rolled up, so not compacted
	if n := s.count(`SELECT count(*) FROM raw_samples_rest`); n != 0 {
		t.Fatalf("%d samples that came in time are in no part", n)
	}
	if n := s.compact(); n != 2 {
		t.Fatalf("%d hours were compacted, want 2", n)
	}
	if n := s.raw(); n != 4 {
		t.Errorf("%d samples are in the head after they were packed, want all 4, as none is deleted by itself", n)
	}
	s.emptyAll()
	if n := s.count(sizeOfParts); n != 0 {
		t.Errorf("parts take %d bytes after they were emptied", n)
	}
	if n := s.count(`SELECT count(*) FROM raw_samples_rest`); n != 1 {
		t.Errorf("%d samples were moved, want the one that is in no block", n)
	}
	// The same again, with another content, in a part that stands for an hour that is packed.
	s.write(measured(codec.Sessions, "a", hour, 9, 9, 4), measured(codec.Sessions, "a", hour.Add(time.Minute), 1), measured(codec.Hosts, "h", hour.Add(time.Minute), 8))
	s.roll()
	s.check()
	s.compact()
	s.emptyAll()
	s.crash()
	s.rollAll()
	s.check()
	if n := s.raw(); n != 0 {
		t.Errorf("%d samples are left in the head", n)
	}
}

// TestAPartInUseIsLeftAlone, as by a backup, which reads for hours.
func TestAPartInUseIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	at := time.Now().UTC().Truncate(time.Second).Add(-2 * time.Hour)
	s.ledger.Raw.Young = 8 * time.Hour
	s.write(measured(codec.Sessions, "a", at, 1))
	s.ledger.Raw.Young = time.Hour // two hours ago is not written to any more
	reader, err := s.db.BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.ExecContext(t.Context(), `LOCK TABLE raw_samples IN ACCESS SHARE MODE`); err != nil {
		t.Fatal(err)
	}
	if err := s.ledger.Raw.EmptyParts(t.Context()); err != nil || s.count(sizeOfParts) == 0 {
		t.Errorf("%v, want to try again later", err)
	}
	if err := reader.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := s.ledger.Raw.EmptyParts(t.Context()); err != nil || s.count(sizeOfParts) == 0 {
		t.Errorf("%v: who held the part is not left in peace for a while", err)
	}
	another := tables.RawSamplesIn(s.db) // of a process that nobody held up
	if err := another.EmptyParts(t.Context()); err != nil || s.count(sizeOfParts) != 0 || s.raw() != 1 {
		t.Errorf("%v: %d bytes, %d samples; want no bytes and the sample", err, s.count(sizeOfParts), s.raw())
	}
}

// TestPartsThatAreWrittenTo are not emptied, nor those with much that is in no block.
func TestPartsThatAreWrittenTo(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.write(measured(codec.Sessions, "a", time.Now().UTC().Truncate(time.Second), 1))
	s.exec(`INSERT INTO raw_samples SELECT id, now() - interval '10 hours' + n * interval '1 ms', 'x',
		floor(extract(epoch FROM now() - interval '2 hours') / 1800)::bigint % 8 FROM measured_series, generate_series(0, $1) n`, tables.PartRest)
	if err := s.ledger.Raw.EmptyParts(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := s.count(`SELECT count(*) FROM raw_samples WHERE part >= 0`); n != tables.PartRest+2 {
		t.Errorf("%d samples are in parts, want %d", n, tables.PartRest+2)
	}
}

// TestPartsAreEmptiedUnderTheirWriters: no sample is lost, and no writer is refused, when parts
// are emptied that are written to and rolled up.
func TestPartsAreEmptiedUnderTheirWriters(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.ledger.Raw.Young = 8 * time.Hour
	hour := timegrid.Hour.Floor(time.Now().Add(-3 * time.Hour))
	var all, writers errgroup.Group
	done := make(chan struct{})
	for _, subject := range []string{"a", "b", "c"} {
		for n := range 40 {
			s.remember(measured(codec.Sessions, subject, hour.Add(time.Duration(n)*time.Minute), int64(n)))
		}
		writers.Go(func() error {
			for n := range 40 {
				if _, err := s.try(measured(codec.Sessions, subject, hour.Add(time.Duration(n)*time.Minute), int64(n))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	until := func(do func() error) func() error {
		return func() error {
			for {
				select {
				case <-done:
					return nil
				default:
				}
				var refused *pgconn.PgError
				if err := do(); err != nil && (!errors.As(err, &refused) || refused.Code != "55P03") { // lock_not_available
					return err
				}
			}
		}
	}
	all.Go(until(func() error { _, err := s.Roll(t.Context()); return err }))
	for part := range 2 {
		at := (int(hour.Unix()/1800) + part) % 8
		all.Go(until(func() error { return s.ledger.Raw.EmptyPart(t.Context(), at) }))
	}
	err := writers.Wait()
	close(done)
	if err := errors.Join(err, all.Wait()); err != nil {
		t.Fatal(err)
	}
	s.rollAll()
	s.check()
	if n := s.raw(); n != 120 {
		t.Errorf("%d samples are kept, want 120", n)
	}
}
