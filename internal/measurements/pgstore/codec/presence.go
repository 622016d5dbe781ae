package codec

import (
	"encoding/binary"
	"slices"

	"muster/internal/measurements/pgstore/rowbytes"
)

// Presence says which series have a sample in which slots of a row.
type Presence struct {
	Series []int64  // in order, none twice
	Slots  []uint64 // of each, bit n: slot n
}

// mostPresent is the maximum number of series in a row.
const mostPresent = 1 << 20

// Encode writes how many sets of slots there are, those, and runs of series that are as
// far from each other and have the same set: how far, the number of the set, how many.
// Series that were first heard of together have numbers that follow each other, and most
// have all slots: a fleet of 10,000 takes a few kB, and 30 at most while its sets are few.
func (p Presence) Encode() []byte {
	var sets []uint64
	number := make(map[uint64]uint64)
	for _, set := range p.Slots {
		if _, ok := number[set]; !ok {
			number[set] = uint64(len(sets))
			sets = append(sets, set)
		}
	}
	out := binary.AppendUvarint(nil, uint64(len(sets)))
	for _, set := range sets {
		out = binary.AppendUvarint(out, set)
	}
	last := int64(0)
	for i := 0; i < len(p.Series); {
		apart, run := p.Series[i]-last, 1
		for i+run < len(p.Series) && p.Series[i+run]-p.Series[i+run-1] == apart && p.Slots[i+run] == p.Slots[i] {
			run++
		}
		out = binary.AppendVarint(out, apart)
		out = binary.AppendUvarint(out, number[p.Slots[i]])
		out = binary.AppendUvarint(out, uint64(run))
		i += run
		last = p.Series[i-1]
	}
	return out
}

// DecodePresence reads what Encode wrote; of nothing, no series has a sample.
func DecodePresence(b []byte) (p Presence, err error) {
	if len(b) == 0 {
		return p, nil
	}
	r := read(b)
	sets := make([]uint64, r.Count(1))
	for i := range sets {
		sets[i] = r.Uvarint()
	}
	last := int64(0)
	for len(r.Bytes) > 0 {
		apart, set, run := r.Varint(), r.Uvarint(), r.Uvarint()
		if set >= uint64(len(sets)) || run > uint64(mostPresent-len(p.Series)) || apart <= 0 && (len(p.Series) > 0 || run > 1) {
			return Presence{}, rowbytes.ErrBytes
		}
		p.Series, p.Slots = slices.Grow(p.Series, int(run)), slices.Grow(p.Slots, int(run))
		for range run {
			last += apart
			p.Series, p.Slots = append(p.Series, last), append(p.Slots, sets[set])
		}
	}
	return p, r.End()
}

// Replace returns it with what is known anew of some slots.
func (p Presence) Replace(slots uint64, anew Presence) (both Presence) {
	add := func(id int64, set uint64) {
		if set != 0 {
			both.Series, both.Slots = append(both.Series, id), append(both.Slots, set)
		}
	}
	i, j := 0, 0
	for i < len(p.Series) || j < len(anew.Series) {
		switch {
		case j == len(anew.Series) || i < len(p.Series) && p.Series[i] < anew.Series[j]:
			add(p.Series[i], p.Slots[i]&^slots)
			i++
		case i == len(p.Series) || anew.Series[j] < p.Series[i]:
			add(anew.Series[j], anew.Slots[j]&slots)
			j++
		default:
			add(p.Series[i], p.Slots[i]&^slots|anew.Slots[j]&slots)
			i, j = i+1, j+1
		}
	}
	return both
}

// In returns the series that have a sample in some of these slots.
func (p Presence) In(slots uint64) []int64 {
	in := make([]int64, 0, len(p.Series))
	for i, set := range p.Slots {
		if set&slots != 0 {
			in = append(in, p.Series[i])
		}
	}
	return in
}

// Equal says whether two are the same.
func (p Presence) Equal(o Presence) bool {
	return slices.Equal(p.Series, o.Series) && slices.Equal(p.Slots, o.Slots)
}
