package pgstore

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/google/uuid"

	"muster/domain/fleet"
)

// detail has the statements of a bucket, or of a sample, database by database, in the
// order of their ids. Details from before databases were noted have one that is zero.
type detail []databaseDeltas

type databaseDeltas struct {
	database   uuid.UUID
	statements deltas
}

// withDatabases stands in front of a detail. Before databases were noted it began with
// how many statements there are, of which there was one at least or nothing behind.
const withDatabases = 0

// encode writes each database's id, how many statements follow, and those, each with the
// number of its samples.
func (d detail) encode() []byte {
	size := 1
	for _, of := range d {
		size += len(of.database) + 2 + len(of.statements)*(leastDelta+3)
	}
	out := append(make([]byte, 0, size), withDatabases)
	for _, of := range d {
		out = binary.AppendUvarint(append(out, of.database[:]...), uint64(len(of.statements)))
		for _, one := range of.statements {
			out = binary.AppendUvarint(appendDelta(out, one), one.samples)
		}
	}
	return out
}

func decodeDetail(body []byte) (detail, error) {
	r := reader{bytes: body}
	if len(body) > 0 && body[0] != withDatabases {
		all := detail{{statements: nextDeltas(&r, true)}}
		return all, r.end()
	}
	r.byte()
	return r.databases(true)
}

// decodeStatements reads the body of a sample.
func decodeStatements(body []byte) (detail, error) {
	r := reader{bytes: body}
	d, err := r.databases(false)
	slices.SortFunc(d, func(a, b databaseDeltas) int { return bytes.Compare(a.database[:], b.database[:]) })
	return d, err
}

// databases reads everything that is left; counted says that statements have the number
// of their samples.
func (r *reader) databases(counted bool) (d detail, err error) {
	for len(r.bytes) > 0 {
		d = append(d, databaseDeltas{r.uuid(), nextDeltas(r, counted)})
	}
	return d, r.end()
}

func nextDeltas(r *reader, counted bool) deltas {
	list := make(deltas, r.count(leastDelta))
	for i := range list {
		list[i] = nextDelta(r)
		if counted {
			list[i].samples = r.uvarint()
		}
	}
	return list
}

// addUpDetails is the sum of details.
func addUpDetails(details []detail) detail {
	lists := make(map[uuid.UUID][]deltas)
	for _, d := range details {
		for _, of := range d {
			lists[of.database] = append(lists[of.database], of.statements)
		}
	}
	var sum detail
	for _, database := range slices.SortedFunc(maps.Keys(lists), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }) {
		sum = append(sum, databaseDeltas{database, addUp(lists[database])})
	}
	if len(sum) > 1 && sum[0].database == (uuid.UUID{}) {
		return sum.placed()
	}
	return sum
}

// placed gives the statements whose database nobody noted to the one that they are of,
// where another detail knows it: a statement's hash is its database's too.
func (d detail) placed() detail {
	unplaced := d[0].statements
	sum := detail{{}}
	for _, of := range d[1:] {
		var here, elsewhere deltas
		for _, one := range unplaced {
			if _, known := slices.BinarySearchFunc(of.statements, one, compareHashes); known {
				here = append(here, one)
			} else {
				elsewhere = append(elsewhere, one)
			}
		}
		sum, unplaced = append(sum, databaseDeltas{of.database, of.statements.plus(here)}), elsewhere
	}
	if sum[0].statements = unplaced; len(unplaced) == 0 {
		return sum[1:]
	}
	return sum
}

// slot is what the tile shows of the statements.
func (d detail) slot(engine fleet.Engine) querySlot {
	s := querySlot{sampled: true, max: math.NaN()}
	for _, of := range d {
		for _, one := range of.statements {
			s.addQueries(one.shown(engine))
		}
	}
	return s
}
