package tables

import (
	"cmp"
	"time"

	"muster/domain/timegrid"
)

// Bucket is a bucket of a series, by its start; as a key, it comes from At, OnGrid or timegrid.
type Bucket struct {
	Series int64 `db:"series_id"`
	Start  time.Time
}

// At is the bucket of a series that starts at a time.
func At(series int64, start time.Time) Bucket { return Bucket{series, start}.OnGrid() }

// OnGrid is a bucket from the database as timegrid makes it.
func (b Bucket) OnGrid() Bucket { return Bucket{b.Series, b.Start.UTC()} }

// Compare is the order of series, and of time.
func (b Bucket) Compare(o Bucket) int {
	return cmp.Or(cmp.Compare(b.Series, o.Series), b.Start.Compare(o.Start))
}

// Floor is the bucket of a size that b is in.
func (b Bucket) Floor(size timegrid.Size) Bucket { return Bucket{b.Series, size.Floor(b.Start)} }

// Within is the number of the bucket in the longer one that contains it, of a size whose width
// is step.
func (b Bucket) Within(longer, step timegrid.Size) int {
	return int(b.Start.Sub(longer.Floor(b.Start)) / step.Width())
}

// HourOfWeek is an hour of a series, and where its bit in sealed_hours is.
type HourOfWeek struct {
	Bucket
	Week   time.Time
	Number int32
}

// OfWeek is the hour b with the place of its bit.
func (b Bucket) OfWeek() HourOfWeek {
	return HourOfWeek{b, timegrid.Week.Floor(b.Start), int32(b.Within(timegrid.Week, timegrid.Hour))}
}

// Stored is a row of a bucket, or of a sample, with its bytes.
type Stored struct {
	Bucket
	Body []byte
}

// StoredAs has no bytes for a row without slots, of an hour that only a marker of
// staleness is in: nil would be NULL.
func StoredAs(b Bucket, body []byte) Stored {
	if body == nil {
		body = []byte{}
	}
	return Stored{b, body}
}
