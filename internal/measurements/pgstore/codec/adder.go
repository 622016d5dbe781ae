package codec

import (
	"bytes"
	"slices"

	"github.com/google/uuid"
)

// Adder adds up the statements of samples and details where their bytes are, without
// making a list of each: 24 hours of 1,000 instances that execute 200 statements have
// 17 million.
type Adder struct {
	databases []DatabaseStatements // in the order in which they came
	unknown   Deltas               // of the part that is read
}

// Add adds what a detail has, or else a sample.
func (a *Adder) Add(body []byte, inDetail bool) error {
	r := read(body)
	if inDetail && len(body) > 0 && r.Byte() != withDatabases {
		r = read(body)
		a.take(&r, 0, uuid.UUID{}, true)
		return r.End()
	}
	for next := 0; len(r.Bytes) > 0; {
		next = a.take(&r, next, r.UUID(), inDetail) + 1
	}
	return r.End()
}

// take adds the statements of a database, which is looked for at a place first, and
// returns its place.
func (a *Adder) take(r *reader, place int, database uuid.UUID, counted bool) int {
	if place >= len(a.databases) || a.databases[place].Database != database {
		place = slices.IndexFunc(a.databases, func(of DatabaseStatements) bool { return of.Database == database })
	}
	if place < 0 {
		if place = len(a.databases); place < cap(a.databases) { // with the room that its list had
			a.databases = a.databases[:place+1]
		} else {
			a.databases = append(a.databases, DatabaseStatements{})
		}
		of := &a.databases[place]
		of.Database, of.Statements = database, of.Statements[:0]
	}
	sum := a.databases[place].Statements
	a.unknown = a.unknown[:0]
	known := 0 // statements that are in front of the next one
	var one Delta
	for range r.Count(LeastDelta) {
		rest := one.decode(r.Bytes, counted)
		if rest == nil {
			r.Fail()
			break
		}
		r.Bytes = rest
		for known < len(sum) && sum[known].Hash < one.Hash {
			known++
		}
		if known < len(sum) && sum[known].Hash == one.Hash {
			sum[known].add(&one)
		} else {
			a.unknown = append(a.unknown, one)
		}
	}
	a.databases[place].Statements = sum.with(a.unknown)
	return place
}

// with is a list with statements that it does not have, in its own room where that is
// enough.
func (l Deltas) with(o Deltas) Deltas {
	last, left := len(l)-1, len(o)-1
	l = append(l, o...)
	for at := len(l) - 1; left >= 0 && last >= 0; at-- { // from behind, so that nothing is in the way
		if l[last].Hash > o[left].Hash {
			l[at], last = l[last], last-1
		} else {
			l[at], left = o[left], left-1
		}
	}
	copy(l, o[:left+1])
	return l
}

// Sum is what was added since the beginning or since Reset, and good until Reset.
func (a *Adder) Sum() Detail {
	sum := Detail(a.databases)
	slices.SortFunc(sum, func(a, b DatabaseStatements) int { return bytes.Compare(a.Database[:], b.Database[:]) })
	return sum.whole()
}

// Reset begins anew.
func (a *Adder) Reset() { a.databases = a.databases[:0] }
