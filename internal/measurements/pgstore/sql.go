package pgstore

import (
	"cmp"
	"time"

	"github.com/google/uuid"

	"muster/domain/timegrid"
)

// bucket is a bucket of a series, by its start; as a key, Start comes from onGrid or timegrid.
type bucket struct {
	Series int64 `db:"series_id"`
	Start  time.Time
}

// onGrid is a bucket from the database as timegrid makes it.
func (b bucket) onGrid() bucket { return bucket{b.Series, b.Start.UTC()} }

// compare is the order of series, and of time.
func (b bucket) compare(o bucket) int {
	return cmp.Or(cmp.Compare(b.Series, o.Series), b.Start.Compare(o.Start))
}

// floor is the bucket of a size that b is in.
func (b bucket) floor(size timegrid.Size) bucket { return bucket{b.Series, size.Floor(b.Start)} }

// within is the number of the bucket in the longer one that contains it, of a size whose width
// is step.
func (b bucket) within(longer, step timegrid.Size) int {
	return int(b.Start.Sub(longer.Floor(b.Start)) / step.Width())
}

// hourOfWeek is an hour of a series, and where its bit in sealed_hours is.
type hourOfWeek struct {
	bucket
	Week   time.Time
	Number int32
}

func (b bucket) ofWeek() hourOfWeek {
	return hourOfWeek{b, timegrid.Week.Floor(b.Start), int32(b.within(timegrid.Week, timegrid.Hour))}
}

// stored is a bucket, or a sample, with what is stored of it.
type stored struct {
	bucket
	Body []byte
}

// storedAs has no bytes for a row without slots, of an hour that only a marker of
// staleness is in: nil would be NULL.
func storedAs(b bucket, body []byte) stored {
	if body == nil {
		body = []byte{}
	}
	return stored{b, body}
}

// asTexts are ids as the subjects of instances' series have them.
func asTexts(ids []uuid.UUID) []string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return texts
}
