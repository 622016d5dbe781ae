package clickhouse

import (
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"

	"muster/internal/measurements/pgstore/packing"
	"muster/internal/measurements/pgstore/rowbytes"
)

// lowCalls is how many bits of a statement's calls the column calls has. LZ4 finds nothing
// in a number's upper bytes when its lower ones are never the same: 200 statements an hour
// take 2 bytes each so, and 4 in one column.
const lowCalls = 16

// values are the columns of what a block holds, in the order of content; nil: nothing.
func (t *table) values(start time.Time, body []byte) ([]any, error) {
	var c packing.Columns
	var err error
	switch {
	case t.form == bodies:
		return []any{body}, nil
	case body == nil:
	case t.form == samples:
		c, err = packing.ColumnsOfSamples(start, body)
	default:
		c, err = packing.ColumnsOfDetail(body)
	}
	if err != nil {
		return nil, err
	}
	low, high := make([]uint16, len(c.Calls)), make([]uint64, len(c.Calls))
	for i, calls := range c.Calls {
		low[i], high[i] = uint16(calls&(1<<lowCalls-1)), calls>>lowCalls
	}
	if t.form == samples {
		return []any{c.Times, c.SampledAt, c.Sampled, c.Database, c.Hash, c.At, low, high, c.Total, c.Max}, nil
	}
	counts := make([]uint32, len(c.Samples))
	for i, n := range c.Samples {
		if n > math.MaxUint32 {
			return nil, fmt.Errorf("a statement of %d samples", n)
		}
		counts[i] = uint32(n)
	}
	return []any{c.Sampled, c.Database, c.Hash, low, high, c.Total, c.Max, counts}, nil
}

// reader takes a block's content from the columns of a row.
type reader struct {
	body   []byte
	c      packing.Columns
	low    []uint16
	high   []uint64
	counts []uint32
}

// into is where the columns of content are read to, in its order.
func (t *table) into(r *reader) []any {
	switch t.form {
	case samples:
		return []any{&r.c.Times, &r.c.SampledAt, &r.c.Sampled, &r.c.Database, &r.c.Hash, &r.c.At, &r.low, &r.high, &r.c.Total, &r.c.Max}
	case details:
		return []any{&r.c.Sampled, &r.c.Database, &r.c.Hash, &r.low, &r.high, &r.c.Total, &r.c.Max, &r.counts}
	default:
		return []any{&r.body}
	}
}

// block is what was put, in bytes that mean the same.
func (t *table) block(start time.Time, r *reader) ([]byte, error) {
	if t.form == bodies {
		return r.body, nil
	}
	if len(r.high) != len(r.low) {
		return nil, rowbytes.ErrBytes
	}
	r.c.Calls = make([]uint64, len(r.low))
	for i := range r.low {
		r.c.Calls[i] = uint64(r.low[i]) | r.high[i]<<lowCalls
	}
	if t.form == samples {
		return r.c.Block(start)
	}
	r.c.Samples = make([]uint64, len(r.counts))
	for i, n := range r.counts {
		r.c.Samples[i] = uint64(n)
	}
	detail, err := r.c.Detail()
	if err != nil {
		return nil, err
	}
	return detail.Encode(), nil
}

// key is how a series stands in a table.
func (t *table) key(organization uuid.UUID, kind, subject string) []any {
	if t.form == bodies {
		return []any{organization, kind, subject}
	}
	return []any{organization, uuid.MustParse(subject)} // as tableOf saw it
}
