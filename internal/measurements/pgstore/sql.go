package pgstore

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/timegrid"
)

// bucket is a bucket of a series, by where it starts; as a key, start is what grid
// or timegrid made.
type bucket struct {
	series int64
	start  time.Time
}

// grid is a time from the database as timegrid makes it.
func grid(t time.Time) time.Time { return t.UTC() }

// floor is the bucket of a size that t is in.
func (b bucket) floor(size timegrid.Size) bucket { return bucket{b.series, size.Floor(b.start)} }

// within is the number of the bucket in the longer one that it is in, of a size whose
// width is step.
func (b bucket) within(longer, step timegrid.Size) int {
	return int(b.start.Sub(longer.Floor(b.start)) / step.Width())
}

// buckets are the columns of a list of them, as statements take them.
type buckets struct {
	series []int64
	starts []time.Time
}

func (c *buckets) addBucket(b bucket) {
	c.series, c.starts = append(c.series, b.series), append(c.starts, b.start)
}

func (c *buckets) bucket(i int) bucket { return bucket{c.series[i], c.starts[i]} }

// bodies are buckets with what is stored of each.
type bodies struct {
	buckets
	bytes [][]byte
}

func (c *bodies) addBody(b bucket, body []byte) {
	if body == nil { // a row without slots: of an hour that only a marker of staleness is in
		body = []byte{}
	}
	c.addBucket(b)
	c.bytes = append(c.bytes, body)
}

// uuids are ids as pgx writes them in a millisecond for 6,000: as []uuid.UUID it goes
// through the text of each, which takes 20.
func uuids(ids []uuid.UUID) [][16]byte {
	plain := make([][16]byte, len(ids))
	for i, id := range ids {
		plain[i] = id
	}
	return plain
}

// scanner is a row as it is read.
type scanner interface{ Scan(dest ...any) error }

// query hands each row of an answer to take.
func query(ctx context.Context, q sqlx.QueryerContext, take func(scanner) error, statement string, args ...any) error {
	rows, err := q.QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := take(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
