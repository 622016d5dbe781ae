package pgstore

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
)

// waiting counts what waits in a database, by category.
type waiting [measurements.Categories]uint64

func waitingOf(s measurements.SessionSample) (w waiting) {
	for name, n := range s.Waits {
		if category, ok := measurements.Classify(s.Engine, name); ok && n > 0 {
			w[category] += uint64(n)
		}
	}
	return w
}

func (w waiting) any() bool { return w != waiting{} }

func (w *waiting) addWaiting(o waiting) {
	for c := range w {
		w[c] += o[c]
	}
}

// appendSessions writes what a body of sessions has of each database: its id and its
// counts.
func appendSessions(body []byte, database uuid.UUID, w waiting) []byte {
	body = append(body, database[:]...)
	for _, n := range w {
		body = binary.AppendUvarint(body, n)
	}
	return body
}

// nextWaiting reads what stands behind the id.
func nextWaiting(r *reader) (w waiting) {
	for c := range w {
		w[c] = r.uvarint()
	}
	return w
}

// waitSums are what a bucket has of a database: of the samples in which somebody
// waited, how many there were and the sum of each category.
type waitSums struct {
	samples uint64
	sums    waiting
}

func (s *waitSums) addSums(o waitSums) {
	s.samples += o.samples
	s.sums.addWaiting(o.sums)
}

// waitSlot is what a bucket has of the databases of an instance. It is nil where
// nobody sampled; databases in which nobody waited need not be in it.
type waitSlot map[uuid.UUID]waitSums

func (s waitSlot) addDatabase(database uuid.UUID, o waitSums) {
	if o.samples == 0 {
		return
	}
	sum := s[database]
	sum.addSums(o)
	s[database] = sum
}

// encode writes a slot that stands by itself: what is known of a row of one.
func (s waitSlot) encode() []byte {
	if s == nil {
		return nil
	}
	return waitRow{s}.appendKnown(nil)
}

// databases are their ids in order.
func (s waitSlot) databases() []uuid.UUID {
	return slices.SortedFunc(maps.Keys(s), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
}

// appendWaitSums writes the sums of the database at a place: which categories are not
// zero (the lowest bits of the first number), the samples, and those sums.
func appendWaitSums(out []byte, place int, s waitSums) []byte {
	set := uint64(place) << measurements.Categories
	for c, n := range s.sums {
		if n > 0 {
			set |= 1 << c
		}
	}
	out = binary.AppendUvarint(out, set)
	out = binary.AppendUvarint(out, s.samples)
	for _, n := range s.sums {
		if n > 0 {
			out = binary.AppendUvarint(out, n)
		}
	}
	return out
}

func nextWaitSums(r *reader) (place uint64, s waitSums) {
	set := r.uvarint()
	if s.samples = r.uvarint(); s.samples == 0 {
		r.fail() // it would not be here
	}
	for c := range s.sums {
		if set>>c&1 != 0 {
			s.sums[c] = r.uvarint()
		}
	}
	return set >> measurements.Categories, s
}

// sessionKind is the kind of sessions' series.
type sessionKind struct{}

func (sessionKind) reach() time.Duration { return 0 }

func (sessionKind) whole() bool { return false }

func (sessionKind) merge(stored, arrived []byte) ([]byte, bool, error) {
	return mergeDatabases(stored, arrived, func(r *reader) { nextWaiting(r) })
}

func (sessionKind) roll(_ fleet.Engine, hour time.Time, dirty uint64, samples []sample, minutes, _ []byte) (rolled, _ []byte, err error) {
	row, err := decodeWaitRow(minutes, minutesOfHour)
	if err != nil {
		return nil, nil, err
	}
	for i := range minutesOfHour {
		if dirty>>i&1 != 0 {
			row[i] = nil
		}
	}
	for _, s := range samples {
		minute, ok := minuteOf(hour, s.at)
		if !ok || dirty>>minute&1 == 0 {
			continue
		}
		if row[minute] == nil {
			row[minute] = waitSlot{}
		}
		for r := (reader{bytes: s.body}); len(r.bytes) > 0; {
			database, w := r.uuid(), nextWaiting(&r)
			if r.bad {
				return nil, nil, errBytes
			}
			if w.any() {
				row[minute].addDatabase(database, waitSums{1, w})
			}
		}
	}
	return row.encode(), nil, nil
}

func (sessionKind) join([][]byte) ([]byte, error) { return nil, nil }

func (sessionKind) ofDetails() bool { return false }

func (sessionKind) total(_ fleet.Engine, row []byte, n int, _ []byte) ([]byte, error) {
	slots, err := decodeWaitRow(row, n)
	if err != nil {
		return nil, err
	}
	var sum waitSlot
	for _, slot := range slots[:n] {
		if slot != nil && sum == nil {
			sum = waitSlot{}
		}
		for database, sums := range slot {
			sum.addDatabase(database, sums)
		}
	}
	return sum.encode(), nil
}

func (sessionKind) slot(row []byte, i int) ([]byte, error) {
	slots, err := decodeWaitRow(row, i+1)
	if err != nil {
		return nil, err
	}
	return slots[i].encode(), nil
}

func (sessionKind) set(row []byte, i int, slot []byte) ([]byte, error) {
	slots, err := decodeWaitRow(row, i+1)
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
