package codec

import (
	"encoding/binary"

	"github.com/google/uuid"

	"muster/internal/measurements/pgstore/rowbytes"
	"muster/internal/measurements/waitclass"
)

// WaitRow is a row of slots. It is stored as the visible values of each slot, after their
// length, followed by the data from which longer buckets are made: the ids of the databases
// once, because most of them are in most slots, and the sums of each. A tile reads the first
// part only, which is a third of the row for an instance with three databases, and looks at
// each slot and not at each database.
type WaitRow []WaitSlot

// shownHead is how many bytes the length of the shown part takes. The statement that
// reads it counts on it.
const shownHead = 2

// isFraction says that the numbers of a shown slot are numerators. Below it are the
// bits of the categories that are not zero.
const isFraction = 1 << waitclass.Categories

// Shown is a tile's value of a slot: the average of each category over the samples in which a
// session waited, summed over the databases. For few samples it is a fraction with a small
// denominator, which takes two bytes and is exact; otherwise short numbers.
func (s WaitSlot) Shown() []byte {
	if s == nil {
		return nil
	}
	if numerators, denominator, ok := s.fractions(); ok {
		out := []byte{isFraction}
		if numerators.any() {
			out = binary.AppendUvarint(out, denominator)
		}
		for c, n := range numerators {
			if n > 0 {
				out[0] |= 1 << c
				out = binary.AppendUvarint(out, n)
			}
		}
		return out
	}
	var averages [waitclass.Categories]float64
	for _, id := range s.Databases() {
		for c, n := range s[id].Sums {
			averages[c] += float64(n) / float64(s[id].Samples)
		}
	}
	out := []byte{0}
	for c, average := range averages {
		if average > 0 {
			out[0] |= 1 << c
			out = rowbytes.AppendShort(out, average)
		}
	}
	return out
}

// fractions are the averages over their common denominator. ok is false where the
// numbers are too large for it to be worth it.
func (s WaitSlot) fractions() (numerators Waiting, denominator uint64, ok bool) {
	const largest, most = 1 << 14, 1 << 32
	denominator = 1
	for _, sum := range s {
		if sum.Samples > largest {
			return numerators, 0, false
		}
		if denominator *= sum.Samples / gcd(denominator, sum.Samples); denominator > largest {
			return numerators, 0, false
		}
	}
	for _, sum := range s {
		for c, n := range sum.Sums {
			if n > most {
				return numerators, 0, false
			}
			numerators[c] += n * (denominator / sum.Samples)
		}
	}
	return numerators, denominator, true
}

func gcd(a, b uint64) uint64 {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

func (w WaitRow) encode() []byte {
	shown := make([][]byte, len(w))
	for i, slot := range w {
		shown[i] = slot.Shown()
	}
	first := rowbytes.RowOf(shown)
	if first == nil {
		return nil
	}
	row := binary.BigEndian.AppendUint16(nil, uint16(len(first))) // of 60 slots below 3,000
	return w.appendKnown(append(row, first...))
}

func (w WaitRow) appendKnown(row []byte) []byte {
	all := WaitSlot{}
	for _, slot := range w {
		for id := range slot {
			all[id] = WaitSums{}
		}
	}
	databases := all.Databases()
	place := make(map[uuid.UUID]int, len(databases))
	row = binary.AppendUvarint(row, uint64(len(databases)))
	for i, id := range databases {
		place[id] = i
		row = append(row, id[:]...)
	}
	slots := make([][]byte, len(w))
	for i, slot := range w {
		if slot == nil {
			continue
		}
		slots[i] = []byte{1}
		for _, id := range slot.Databases() {
			slots[i] = appendWaitSums(slots[i], place[id], slot[id])
		}
	}
	return append(row, rowbytes.RowOf(slots)...)
}

// shownPart cuts a row into what a tile shows and what is known.
func shownPart(row []byte) (shown, known []byte, err error) {
	r := read(row)
	if head := r.Take(shownHead); head != nil {
		shown = r.Take(int(binary.BigEndian.Uint16(head)))
	}
	if r.Bad() {
		return nil, nil, rowbytes.ErrBytes
	}
	return shown, r.Bytes, nil
}

// DecodeWaitRow returns the slots of a row, at least n of them.
func DecodeWaitRow(row []byte, n int) (WaitRow, error) {
	if len(row) == 0 {
		return make(WaitRow, n), nil
	}
	_, known, err := shownPart(row)
	if err != nil {
		return nil, err
	}
	return decodeKnown(known, n)
}

// decodeKnown reads what appendKnown wrote.
func decodeKnown(known []byte, n int) (WaitRow, error) {
	if len(known) == 0 {
		return make(WaitRow, n), nil
	}
	r := read(known)
	databases := make([]uuid.UUID, r.Count(len(uuid.UUID{})))
	for i := range databases {
		databases[i] = r.UUID()
	}
	if r.Bad() {
		return nil, rowbytes.ErrBytes
	}
	encoded, err := rowbytes.SlotsOf(r.Bytes, n)
	if err != nil {
		return nil, err
	}
	slots := make(WaitRow, len(encoded))
	for i, slot := range encoded {
		if slots[i], err = decodeWaitSlot(slot, databases); err != nil {
			return nil, err
		}
	}
	return slots, nil
}

func decodeWaitSlot(slot []byte, databases []uuid.UUID) (WaitSlot, error) {
	if len(slot) == 0 {
		return nil, nil
	}
	s, r := WaitSlot{}, read(slot[1:])
	for len(r.Bytes) > 0 {
		place, sums := nextWaitSums(&r)
		if place >= uint64(len(databases)) {
			return nil, rowbytes.ErrBytes
		}
		s[databases[place]] = sums
	}
	return s, r.End()
}
