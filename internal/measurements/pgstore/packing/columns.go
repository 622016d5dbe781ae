package packing

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/rowbytes"

	"github.com/google/uuid"
)

// Columns are the statements of a detail, or of the samples of a block, as columns: a store by
// columns stores these instead of bytes, to add them up itself. Statements are in the order of
// their databases, hashes and times, so that repeated values are adjacent.
type Columns struct {
	// Times are those of the samples, in microseconds since the block's start; none of a detail.
	Times []uint32
	// SampledAt and Sampled say which databases were sampled and, for samples, at which of
	// Times; a database in which no statement ran is only here.
	SampledAt []uint32
	Sampled   []uuid.UUID

	Database []uuid.UUID // of each statement, from here on
	Hash     []uint64
	At       []uint32 // microsecond since the block's start; of samples only
	Calls    []uint64
	Total    []float64 // ms
	Max      []float64 // ms; negative infinity: its samples have none
	Samples  []uint64  // of details only
}

// noMax stands for a maximum that is not there: NaN, which Delta has, is greater than all
// or than nothing, as it comes first or last.
var noMax = math.Inf(-1)

func (c *Columns) add(database uuid.UUID, d *codec.Delta) {
	c.Database, c.Hash = append(c.Database, database), append(c.Hash, d.Hash)
	c.Calls, c.Total = append(c.Calls, d.Calls), append(c.Total, d.Total)
	if math.IsNaN(d.Max) {
		c.Max = append(c.Max, noMax)
	} else {
		c.Max = append(c.Max, d.Max)
	}
}

// grow makes room for n statements more.
func (c *Columns) grow(n int) {
	c.Database, c.Hash, c.Calls = slices.Grow(c.Database, n), slices.Grow(c.Hash, n), slices.Grow(c.Calls, n)
	c.Total, c.Max = slices.Grow(c.Total, n), slices.Grow(c.Max, n)
}

// Delta is statement i.
func (c *Columns) Delta(i int) codec.Delta {
	d := codec.Delta{Hash: c.Hash[i], Calls: c.Calls[i], Total: c.Total[i], Max: c.Max[i], Samples: 1}
	if d.Max == noMax {
		d.Max = math.NaN()
	}
	if c.Samples != nil {
		d.Samples = c.Samples[i]
	}
	return d
}

// ColumnsOfDetail takes a detail apart.
func ColumnsOfDetail(body []byte) (c Columns, err error) {
	detail, err := codec.DecodeDetail(body)
	if err != nil {
		return Columns{}, err
	}
	for _, of := range detail {
		c.Sampled = append(c.Sampled, of.Database)
		c.grow(len(of.Statements))
		c.Samples = slices.Grow(c.Samples, len(of.Statements))
		for i := range of.Statements {
			c.add(of.Database, &of.Statements[i])
			c.Samples = append(c.Samples, of.Statements[i].Samples)
		}
	}
	return c, nil
}

// Detail is what ColumnsOfDetail took apart, as DecodeDetail reads it.
func (c *Columns) Detail() (codec.Detail, error) {
	n := len(c.Hash)
	if len(c.Database) != n || len(c.Calls) != n || len(c.Total) != n || len(c.Max) != n || len(c.Samples) != n {
		return nil, rowbytes.ErrBytes
	}
	detail := make(codec.Detail, 0, len(c.Sampled))
	next := 0
	for _, database := range c.Sampled {
		of := codec.DatabaseStatements{Database: database}
		for ; next < n && c.Database[next] == database; next++ {
			of.Statements = append(of.Statements, c.Delta(next))
		}
		detail = append(detail, of)
	}
	if next < n {
		return nil, rowbytes.ErrBytes
	}
	return detail, nil
}

// ColumnsOfSamples takes a block of samples (Pack) apart.
func ColumnsOfSamples(start time.Time, block []byte) (c Columns, err error) {
	samples, err := Unpack(start, block, start, start.Add(time.Hour))
	if err != nil {
		return Columns{}, err
	}
	type placed struct {
		database uuid.UUID
		at       uint32
		delta    codec.Delta
	}
	var all []placed
	for _, s := range samples {
		since := s.At.Sub(start) / time.Microsecond
		if since > math.MaxUint32 { // more than an hour
			return Columns{}, rowbytes.ErrBytes
		}
		at := uint32(since)
		detail, err := codec.DecodeStatements(s.Body)
		if err != nil {
			return Columns{}, err
		}
		c.Times = append(c.Times, at)
		for _, of := range detail {
			c.SampledAt, c.Sampled = append(c.SampledAt, at), append(c.Sampled, of.Database)
			for _, one := range of.Statements {
				all = append(all, placed{of.Database, at, one})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		return cmp.Or(bytes.Compare(a.database[:], b.database[:]), cmp.Compare(a.delta.Hash, b.delta.Hash), cmp.Compare(a.at, b.at))
	})
	c.grow(len(all))
	c.At = make([]uint32, len(all))
	for i := range all {
		c.add(all[i].database, &all[i].delta)
		c.At[i] = all[i].at
	}
	return c, nil
}

// Block is what ColumnsOfSamples took apart, as Unpack reads it; databases of a sample are
// in the order of their ids.
func (c *Columns) Block(start time.Time) ([]byte, error) {
	n := len(c.Hash)
	if len(c.Database) != n || len(c.Calls) != n || len(c.Total) != n || len(c.Max) != n || len(c.At) != n || len(c.SampledAt) != len(c.Sampled) {
		return nil, rowbytes.ErrBytes
	}
	type part struct {
		at       uint32
		database uuid.UUID
	}
	statements := make(map[part]codec.Deltas, len(c.Sampled))
	for i := range n {
		of := part{c.At[i], c.Database[i]}
		statements[of] = append(statements[of], c.Delta(i))
	}
	samples, next := make([]codec.Sample, 0, len(c.Times)), 0
	for _, at := range c.Times {
		sample := codec.Sample{At: start.Add(time.Duration(at) * time.Microsecond)}
		for ; next < len(c.Sampled) && c.SampledAt[next] == at; next++ {
			database := c.Sampled[next]
			list := statements[part{at, database}]
			sample.Body = binary.AppendUvarint(append(sample.Body, database[:]...), uint64(len(list)))
			for _, one := range list {
				sample.Body = codec.AppendDelta(sample.Body, one)
			}
			n -= len(list)
		}
		samples = append(samples, sample)
	}
	if next < len(c.Sampled) || n != 0 {
		return nil, rowbytes.ErrBytes
	}
	return Pack(codec.Statements, start, samples), nil
}
