package codec

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/google/uuid"

	"muster/internal/engine/trait"
)

// Detail has the statements of a bucket, or of a sample, database by database, in the order of
// their ids. Details from before databases were recorded have a single zero database.
type Detail []DatabaseStatements

// DatabaseStatements are what a detail has of one database.
type DatabaseStatements struct {
	Database   uuid.UUID
	Statements Deltas
}

// withDatabases begins a detail. Before databases were recorded, it began with the number of
// statements, which was at least one unless nothing followed.
const withDatabases = 0

// Encode writes each database's id, how many statements follow, and those, each with the
// number of its samples, as DecodeDetail reads them.
func (d Detail) Encode() []byte {
	size := 1
	for _, of := range d {
		size += len(of.Database) + 2 + len(of.Statements)*(LeastDelta+3)
	}
	out := append(make([]byte, 0, size), withDatabases)
	for _, of := range d {
		out = binary.AppendUvarint(append(out, of.Database[:]...), uint64(len(of.Statements)))
		for _, one := range of.Statements {
			out = binary.AppendUvarint(AppendDelta(out, one), one.Samples)
		}
	}
	return out
}

// DecodeDetail reads the detail of statements.
func DecodeDetail(body []byte) (Detail, error) {
	r := read(body)
	if len(body) > 0 && body[0] != withDatabases {
		all := Detail{{Statements: nextDeltas(&r, true)}}
		return all, r.End()
	}
	r.Byte()
	return r.everyDatabase(true)
}

// DecodeStatements reads the body of a sample.
func DecodeStatements(body []byte) (Detail, error) {
	r := read(body)
	d, err := r.everyDatabase(false)
	slices.SortFunc(d, func(a, b DatabaseStatements) int { return bytes.Compare(a.Database[:], b.Database[:]) })
	return d, err
}

// Find looks for one statement in a sample, or in a detail, without making the others.
// sampled says that its database is there.
func Find(body []byte, inDetail bool, database uuid.UUID, hash uint64) (found Delta, sampled bool, err error) {
	r := read(body)
	found = NoExecution(hash)
	if inDetail && r.Byte() != withDatabases {
		return found, false, nil
	}
	for len(r.Bytes) > 0 {
		here := r.UUID() == database
		sampled = sampled || here
		for range r.Count(LeastDelta) {
			one := r.delta(inDetail)
			if here && one.Hash == hash {
				found = one
			}
		}
	}
	return found, sampled, r.End()
}

// everyDatabase reads everything that is left; counted says that statements have the number
// of their samples.
func (r *reader) everyDatabase(counted bool) (d Detail, err error) {
	for len(r.Bytes) > 0 {
		d = append(d, DatabaseStatements{r.UUID(), nextDeltas(r, counted)})
	}
	return d, r.End()
}

func nextDeltas(r *reader, counted bool) Deltas {
	list := make(Deltas, r.Count(LeastDelta))
	for i := range list {
		list[i] = r.delta(counted)
	}
	return list
}

// AddUpDetails is the sum of details.
func AddUpDetails(details []Detail) Detail {
	lists := make(map[uuid.UUID][]Deltas)
	for _, d := range details {
		for _, of := range d {
			lists[of.Database] = append(lists[of.Database], of.Statements)
		}
	}
	var sum Detail
	for _, database := range sortedIDs(lists) {
		sum = append(sum, DatabaseStatements{database, addUp(lists[database])})
	}
	return sum.whole()
}

// whole is a sum of details without statements that one of them does not know the
// database of, and another does.
func (d Detail) whole() Detail {
	if len(d) > 1 && d[0].Database == (uuid.UUID{}) {
		return d.placed()
	}
	return d
}

// placed assigns statements without a database to their database if another detail knows it: a
// statement's hash belongs to its database too.
func (d Detail) placed() Detail {
	unplaced := d[0].Statements
	sum := Detail{{}}
	for _, of := range d[1:] {
		var here, elsewhere Deltas
		for _, one := range unplaced {
			if _, known := slices.BinarySearchFunc(of.Statements, one, compareHashes); known {
				here = append(here, one)
			} else {
				elsewhere = append(elsewhere, one)
			}
		}
		sum, unplaced = append(sum, DatabaseStatements{of.Database, of.Statements.plus(here)}), elsewhere
	}
	if sum[0].Statements = unplaced; len(unplaced) == 0 {
		return sum[1:]
	}
	return sum
}

// Slot is what the tile shows of the statements.
func (d Detail) Slot(by trait.Statements) QuerySlot {
	s := QuerySlot{sampled: true, Max: math.NaN()}
	for _, of := range d {
		for _, one := range of.Statements {
			s.AddQueries(one.Shown(by))
		}
	}
	return s
}
