package codec

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/rowbytes"
	"muster/internal/measurements/waitclass"
)

// Waiting counts what waits in a database, by category.
type Waiting [waitclass.Categories]uint64

func waitingOf(s measurements.SessionSample) (w Waiting) {
	for name, n := range s.Waits {
		if category, ok := measurements.Classify(s.Engine, name); ok && n > 0 {
			w[category] += uint64(n)
		}
	}
	return w
}

func (w Waiting) any() bool { return w != Waiting{} }

func (w *Waiting) addWaiting(o Waiting) {
	for c := range w {
		w[c] += o[c]
	}
}

// appendSessions writes what a body of sessions has of each database: its id and its
// counts.
func appendSessions(body []byte, database uuid.UUID, w Waiting) []byte {
	body = append(body, database[:]...)
	for _, n := range w {
		body = binary.AppendUvarint(body, n)
	}
	return body
}

// nextWaiting reads what stands behind the id.
func nextWaiting(r *reader) (w Waiting) {
	for c := range w {
		w[c] = r.Uvarint()
	}
	return w
}

// WaitSums are a bucket's sums for a database: the number of samples in which a session waited,
// and the sum of each category over them.
type WaitSums struct {
	Samples uint64
	Sums    Waiting
}

func (s *WaitSums) addSums(o WaitSums) {
	s.Samples += o.Samples
	s.Sums.addWaiting(o.Sums)
}

// WaitSlot is a bucket's data for the databases of an instance. It is nil without samples;
// databases in which no session waited need not be in it.
type WaitSlot map[uuid.UUID]WaitSums

// AddDatabase adds what another bucket has of a database.
func (s WaitSlot) AddDatabase(database uuid.UUID, o WaitSums) {
	if o.Samples == 0 {
		return
	}
	sum := s[database]
	sum.addSums(o)
	s[database] = sum
}

// encode writes a slot by itself: the knowledge of a row with one.
func (s WaitSlot) encode() []byte {
	if s == nil {
		return nil
	}
	return WaitRow{s}.appendKnown(nil)
}

// Databases are their ids in order.
func (s WaitSlot) Databases() []uuid.UUID {
	return sortedIDs(s)
}

// sortedIDs are the keys of a map in order.
func sortedIDs[V any](of map[uuid.UUID]V) []uuid.UUID {
	return slices.SortedFunc(maps.Keys(of), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
}

// appendWaitSums writes the sums of the database at a place: which categories are not
// zero (the lowest bits of the first number), the samples, and those sums.
func appendWaitSums(out []byte, place int, s WaitSums) []byte {
	set := uint64(place) << waitclass.Categories
	for c, n := range s.Sums {
		if n > 0 {
			set |= 1 << c
		}
	}
	out = binary.AppendUvarint(out, set)
	out = binary.AppendUvarint(out, s.Samples)
	for _, n := range s.Sums {
		if n > 0 {
			out = binary.AppendUvarint(out, n)
		}
	}
	return out
}

func nextWaitSums(r *reader) (place uint64, s WaitSums) {
	set := r.Uvarint()
	if s.Samples = r.Uvarint(); s.Samples == 0 {
		r.Fail() // it would not be here
	}
	for c := range s.Sums {
		if set>>c&1 != 0 {
			s.Sums[c] = r.Uvarint()
		}
	}
	return set >> waitclass.Categories, s
}

// sessionKind is the kind of sessions' series.
type sessionKind struct{ withoutDetails }

func (sessionKind) Merge(stored, arrived []byte) ([]byte, bool, error) {
	return mergeDatabases(stored, arrived, func(r *reader) { nextWaiting(r) })
}

func (sessionKind) Roll(_ fleet.Engine, hour time.Time, dirty uint64, samples []Sample, minutes, _ []byte) (rolled, _ []byte, err error) {
	row, err := DecodeWaitRow(minutes, MinutesOfHour)
	if err != nil {
		return nil, nil, err
	}
	if err := rollSlots(row, hour, dirty, samples, (*WaitSlot).addSample); err != nil {
		return nil, nil, err
	}
	return row.encode(), nil, nil
}

func (s *WaitSlot) addSample(body []byte) error {
	if *s == nil {
		*s = WaitSlot{}
	}
	for r := read(body); len(r.Bytes) > 0; {
		database, w := r.UUID(), nextWaiting(&r)
		if r.Bad() {
			return rowbytes.ErrBytes
		}
		if w.any() {
			s.AddDatabase(database, WaitSums{1, w})
		}
	}
	return nil
}

func (sessionKind) Total(_ fleet.Engine, row []byte, n int, _ []byte) ([]byte, error) {
	slots, err := DecodeWaitRow(row, n)
	if err != nil {
		return nil, err
	}
	var sum WaitSlot
	for _, slot := range slots[:n] {
		if slot != nil && sum == nil {
			sum = WaitSlot{}
		}
		for database, sums := range slot {
			sum.AddDatabase(database, sums)
		}
	}
	return sum.encode(), nil
}

func (sessionKind) Slot(row []byte, i int) ([]byte, error) {
	slots, err := DecodeWaitRow(row, i+1)
	if err != nil {
		return nil, err
	}
	return slots[i].encode(), nil
}

func (sessionKind) Set(row []byte, i int, slot []byte) ([]byte, error) {
	slots, err := DecodeWaitRow(row, i+1)
	if err != nil {
		return nil, err
	}
	one, err := decodeKnown(slot, 1)
	if err != nil {
		return nil, err
	}
	slots[i] = one[0]
	return slots.encode(), nil
}
