package pgstore

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
)

// delta is what a statement did in one sample, or in a bucket.
type delta struct {
	hash    uint64 // of the database and the key
	calls   uint64
	total   float64 // ms
	max     float64 // ms; NaN: its samples have none
	samples uint64  // in how many samples it is
}

// A body of statements: for each database its id, how many statements follow, and
// those in the order of their hashes. 19 bytes a statement, with some hundred calls.

func appendStatements(body []byte, s measurements.StatementSample) []byte {
	deltas := make([]delta, 0, len(s.Statements))
	for _, one := range s.Statements {
		if one.Calls == 0 && one.TotalMs > 0 { // readings, 18
			continue
		}
		d := delta{hash: measurements.HashStatement(s.Database, one.Key), calls: uint64(one.Calls), total: one.TotalMs, max: math.NaN()}
		if one.MaxMs != nil && s.Engine == fleet.SQLServer {
			d.max = *one.MaxMs
		}
		deltas = append(deltas, d)
	}
	slices.SortFunc(deltas, compareHashes)
	body = append(body, s.Database[:]...)
	body = binary.AppendUvarint(body, uint64(len(deltas)))
	for _, d := range deltas {
		body = appendDelta(body, d)
	}
	return body
}

func compareHashes(a, b delta) int { return cmp.Compare(a.hash, b.hash) }

func appendDelta(body []byte, d delta) []byte {
	body = binary.BigEndian.AppendUint64(body, d.hash)
	if math.IsNaN(d.max) {
		return appendFloat(binary.AppendUvarint(body, d.calls<<1), d.total)
	}
	return appendFloat(appendFloat(binary.AppendUvarint(body, d.calls<<1|1), d.total), d.max)
}

func nextDelta(r *reader) delta {
	d := delta{hash: r.uint64(), max: math.NaN(), samples: 1}
	calls := r.uvarint()
	d.calls, d.total = calls>>1, r.float()
	if calls&1 != 0 {
		d.max = r.float()
	}
	return d
}

// leastDelta is how few bytes a statement can have.
const leastDelta = 8 + 1 + 8

// eachDatabase hands the parts of a body to take, each with its database's id at its
// front; skip reads over what follows that.
func eachDatabase(body []byte, skip func(*reader), take func(database uuid.UUID, part []byte)) error {
	for r := (reader{bytes: body}); len(r.bytes) > 0; {
		whole := r.bytes
		database := r.uuid()
		skip(&r)
		if r.bad {
			return errBytes
		}
		take(database, whole[:len(whole)-len(r.bytes)])
	}
	return nil
}

// mergeDatabases adds the parts of databases of which nothing is stored.
func mergeDatabases(stored, arrived []byte, skip func(*reader)) (merged []byte, changed bool, err error) {
	known := make(map[uuid.UUID]bool)
	if err := eachDatabase(stored, skip, func(database uuid.UUID, _ []byte) { known[database] = true }); err != nil {
		return nil, false, err
	}
	merged = stored
	err = eachDatabase(arrived, skip, func(database uuid.UUID, part []byte) {
		if !known[database] {
			known[database] = true
			merged = append(slices.Clip(merged), part...)
		}
	})
	return merged, len(merged) > len(stored), err
}

// deltas are statements in the order of their hashes, none twice. To merge lists takes
// a quarter of what adding them up in a map does (16 ms of CPU against 63 for an hour of
// 5,000 statements a minute), and always makes the same bytes.
type deltas []delta

// plus is the sum of two lists.
func (l deltas) plus(o deltas) deltas {
	sum := make(deltas, 0, len(l)+len(o))
	for len(l) > 0 && len(o) > 0 {
		switch {
		case l[0].hash < o[0].hash:
			sum, l = append(sum, l[0]), l[1:]
		case l[0].hash > o[0].hash:
			sum, o = append(sum, o[0]), o[1:]
		default:
			sum, l, o = append(sum, l[0].plus(o[0])), l[1:], o[1:]
		}
	}
	return append(append(sum, l...), o...)
}

func (d delta) plus(o delta) delta {
	return delta{d.hash, d.calls + o.calls, d.total + o.total, greater(d.max, o.max), d.samples + o.samples}
}

// addUp is the sum of lists, of two neighbours at a time: what is in all of them, as
// most statements are, is so looked at twice and not once for each.
func addUp(lists []deltas) deltas {
	for len(lists) > 1 {
		left := lists[:0]
		for i := 0; i+1 < len(lists); i += 2 {
			left = append(left, lists[i].plus(lists[i+1]))
		}
		if len(lists)%2 == 1 {
			left = append(left, lists[len(lists)-1])
		}
		lists = left
	}
	if len(lists) == 0 {
		return nil
	}
	return lists[0]
}

// shown is what the tile shows of a statement in one bucket, the rules of the engine
// applied: Oracle's with a single sample counts for nothing (readings, 17), SQL Server's
// maximum is the interval's where there is one (16).
func (d delta) shown(engine fleet.Engine) querySlot {
	if d.calls == 0 || engine == fleet.Oracle && d.samples < 2 {
		return querySlot{sampled: true, max: math.NaN()}
	}
	most := d.total / float64(d.calls)
	if engine == fleet.SQLServer && !math.IsNaN(d.max) {
		most = d.max
	}
	return querySlot{true, d.calls, d.total, most}
}

// querySlot is what a bucket has of an instance's statements.
type querySlot struct {
	sampled bool
	calls   uint64
	total   float64 // ms
	max     float64 // ms; NaN: there was no call
}

func (s *querySlot) addQueries(o querySlot) {
	s.sampled = s.sampled || o.sampled
	s.calls, s.total = s.calls+o.calls, s.total+o.total
	s.max = greater(s.max, o.max)
}

// querySlotNumbers is how long the two short numbers of a slot are that has calls: the
// time and the maximum. The calls follow.
const querySlotNumbers = 2 * shortSize

func (s querySlot) encode() []byte {
	switch {
	case !s.sampled:
		return nil
	case s.calls == 0:
		return []byte{0}
	}
	out := make([]byte, 0, querySlotNumbers+4)
	out = appendShort(appendShort(out, s.total), s.max)
	return binary.AppendUvarint(out, s.calls)
}

func decodeQuerySlot(slot []byte) (querySlot, error) {
	s := querySlot{sampled: len(slot) > 0, max: math.NaN()}
	if len(slot) <= 1 { // there was no call
		return s, nil
	}
	r := reader{bytes: slot}
	s.total, s.max, s.calls = r.short(), r.short(), r.uvarint()
	return s, r.end()
}

// statementKind is the kind of statements' series.
type statementKind struct{ slotRows }

func (statementKind) reach() time.Duration { return 0 }

func (statementKind) whole() bool { return true }

func (statementKind) merge(stored, arrived []byte) ([]byte, bool, error) {
	return mergeDatabases(stored, arrived, func(r *reader) {
		for range r.count(leastDelta) {
			nextDelta(r)
		}
	})
}

func (statementKind) roll(engine fleet.Engine, hour time.Time, dirty uint64, samples []sample, minutes, _ []byte) (rolled, body []byte, err error) {
	slots, err := slotsOf(minutes, minutesOfHour)
	if err != nil {
		return nil, nil, err
	}
	var parts [minutesOfHour][]detail
	for _, s := range samples {
		if minute, ok := minuteOf(hour, s.at); ok {
			part, err := decodeStatements(s.body)
			if err != nil {
				return nil, nil, err
			}
			parts[minute] = append(parts[minute], part)
		}
	}
	var whole []detail
	for minute, of := range parts {
		sum := addUpDetails(of)
		if of != nil {
			whole = append(whole, sum)
		}
		switch {
		case dirty>>minute&1 == 0:
		case of == nil:
			slots[minute] = nil
		default:
			slots[minute] = sum.slot(engine).encode()
		}
	}
	return rowOf(slots), addUpDetails(whole).encode(), nil
}

func (statementKind) join(bodies [][]byte) ([]byte, error) {
	details := make([]detail, len(bodies))
	for i, body := range bodies {
		var err error
		if details[i], err = decodeDetail(body); err != nil {
			return nil, err
		}
	}
	return addUpDetails(details).encode(), nil
}

func (statementKind) ofDetails() bool { return true }

func (statementKind) total(engine fleet.Engine, row []byte, n int, body []byte) ([]byte, error) {
	if body != nil {
		of, err := decodeDetail(body)
		if err != nil {
			return nil, err
		}
		return of.slot(engine).encode(), nil
	}
	slots, err := slotsOf(row, n)
	if err != nil {
		return nil, err
	}
	sum := querySlot{max: math.NaN()}
	for _, slot := range slots[:n] {
		one, err := decodeQuerySlot(slot)
		if err != nil {
			return nil, err
		}
		sum.addQueries(one)
	}
	return sum.encode(), nil
}
