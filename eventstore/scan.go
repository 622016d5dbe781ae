package eventstore

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"muster/internal/concurrency/supervise"
)

//go:embed sql/scan.sql
var scanRange string

const (
	// scanPositions is how many positions one statement covers: few statements,
	// and still no snapshot that keeps vacuum waiting for long.
	scanPositions = 50_000
	// chunkRows is the unit of work between the goroutines of a scan.
	chunkRows = 1000
)

// chunk is a run of consecutive links with the bytes they point into.
type chunk struct {
	links []link
	bytes []byte
	ready chan struct{} // closed once every link's digest was checked
}

// scan reads a log behind position after up to upTo, checks digests on all
// processors, and gives the links to each in order of position. With an
// organization the contents of the others' events stay in the database. A link
// is each's only until it returns.
func (s *Store) scan(ctx context.Context, log Log, organization uuid.UUID, after, upTo int64, each func(*link) error) error {
	group, ctx := supervise.WithContext(ctx)
	workers := max(supervise.Processors(), 2)
	unchecked, ordered := make(chan *chunk, workers), make(chan *chunk, 2*workers)
	group.Go(func() error {
		defer close(unchecked)
		defer close(ordered)
		return s.scanChunks(ctx, log, organization, after, upTo, func(c *chunk) error {
			for _, to := range []chan<- *chunk{ordered, unchecked} {
				select {
				case to <- c:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
	})
	for range workers {
		group.Go(func() error {
			d := newDigester()
			for c := range unchecked {
				c.check(d)
			}
			return nil
		})
	}
	group.Go(func() error {
		for c := range ordered {
			select {
			case <-c.ready:
			case <-ctx.Done():
				return ctx.Err()
			}
			for i := range c.links {
				if err := each(&c.links[i]); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return group.Wait()
}

func (c *chunk) check(d *digester) {
	var sum [32]byte
	for i := range c.links {
		l := &c.links[i]
		l.intact = !l.own || string(d.sum(&l.Event, sum[:0])) == string(l.Digest)
	}
	close(c.ready)
}

func (s *Store) scanChunks(ctx context.Context, log Log, organization uuid.UUID, after, upTo int64, emit func(*chunk) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close() }()
	for ; after < upTo; after += scanPositions {
		if err := scanStatement(ctx, conn, log, organization, after, min(after+scanPositions, upTo), emit); err != nil {
			return fmt.Errorf("read positions %d and following: %w", after+1, err)
		}
	}
	return nil
}

// scanStatement reads rows as they come over the wire: 3 µs an event less than
// through database/sql.
func scanStatement(ctx context.Context, conn *sql.Conn, log Log, organization uuid.UUID, after, upTo int64, emit func(*chunk) error) error {
	return conn.Raw(func(driver any) error {
		direct, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("the event store needs a pgx stdlib database, not %T", driver)
		}
		rows, err := direct.Conn().Query(ctx, Record(scanRange), pgx.QueryResultFormats{pgx.BinaryFormatCode},
			string(log), after, upTo, organization)
		if err != nil {
			return err
		}
		defer rows.Close()
		names := make(map[string]string)
		c := newChunk()
		for rows.Next() {
			if err := c.take(rows.RawValues(), log, names); err != nil {
				return err
			}
			if len(c.links) == chunkRows {
				if err := emit(c); err != nil {
					return err
				}
				c = newChunk()
			}
		}
		if err := rows.Err(); err != nil {
			return err
		}
		if len(c.links) == 0 {
			return nil
		}
		return emit(c)
	})
}

func newChunk() *chunk {
	return &chunk{links: make([]link, 0, chunkRows), bytes: make([]byte, 0, 512*chunkRows), ready: make(chan struct{})}
}

// take copies one row. Growing bytes leaves earlier links pointing into the old
// array, which stays as it is.
func (c *chunk) take(row [][]byte, log Log, names map[string]string) error {
	keep := func(b []byte) []byte {
		from := len(c.bytes)
		c.bytes = append(c.bytes, b...)
		return c.bytes[from:len(c.bytes):len(c.bytes)]
	}
	c.links = append(c.links, link{})
	l := &c.links[len(c.links)-1]
	l.Log, l.Position, l.RecordedAt = log, number(row[0]), instantOf(row[1])
	l.Digest, l.Hash = keep(row[2]), keep(row[3])
	if l.own = row[4] != nil; !l.own {
		return nil
	}
	_, err := l.decode(keep(row[4]), names)
	return err
}
