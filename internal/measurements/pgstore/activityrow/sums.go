package activityrow

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/bits"
	"slices"

	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/rowbytes"
)

const (
	// sumsVersion is the first byte of sums.
	sumsVersion = 1
	// sumSize is what each line has in them: the hash of its id, its sum, and the numbers of its bytes in the
	// row, together with its state, and in the classes.
	sumSize = 8 + rowbytes.ShortSize + 2 + 2
	// stateShift is by how much a state is shifted that shares two bytes with a size.
	stateShift = 13
)

// Sums are the head of a row and, of each of its lines, a hash and the sum of its slots. They are
// stored beside the row, a fifth of its size: a reader of the greatest lines takes only those out
// of the row, and out of the classes of all lines (Classes).
type Sums struct {
	Sampled, Told uint64
	Totals        []Line
	lines         []byte // sumSize bytes each
	first         int    // where the first line begins in the row
}

// Sum is what Sums have of a line.
type Sum struct {
	Hash          uint64 // ID.Hash
	Sum           float64
	State         measurements.State
	Size, Classes int // how many bytes of the row and of the classes it has
}

// Hash identifies an id among those of an organization.
func (id *ID) Hash() uint64 {
	h := fnv.New64a()
	_, _ = h.Write(id[:written(id[0])]) // never fails
	return h.Sum64()
}

// Encoded are a row and what is stored beside it.
type Encoded struct{ Lines, Sums, Classes []byte }

// Encode writes the row, with the greatest lines first: those of the greatest keys are neighbors then, and
// a reader takes fewer pieces out of it. Nil: nothing was sampled.
func (o Row) Encode() (e Encoded) {
	if o.Sampled == 0 {
		return e
	}
	slices.SortStableFunc(o.Lines, func(a, b Line) int { return cmp.Compare(b.sum, a.sum) })
	e.Lines = binary.LittleEndian.AppendUint64(nil, o.Sampled)
	e.Lines = binary.LittleEndian.AppendUint64(e.Lines, o.Told)
	e.Lines, _ = appendLines(e.Lines, o.Totals)
	e.Sums = append([]byte{sumsVersion}, e.Lines...)
	row, sizes := appendLines(e.Lines, o.Lines)
	first := len(row)
	for _, size := range sizes {
		first -= size
	}
	e.Lines, e.Sums = row, binary.AppendUvarint(e.Sums, uint64(first))
	for i := range o.Lines {
		l := &o.Lines[i]
		e.Sums = binary.LittleEndian.AppendUint64(e.Sums, l.ID.Hash())
		e.Sums = rowbytes.AppendShort(e.Sums, l.sum)
		e.Sums = binary.LittleEndian.AppendUint16(e.Sums, uint16(l.state)<<stateShift|uint16(sizes[i]))
		e.Sums = binary.LittleEndian.AppendUint16(e.Sums, uint16(len(l.classes)))
		e.Classes = append(e.Classes, l.classes...)
	}
	return e
}

// DecodeSums reads sums. They refer to the bytes.
func DecodeSums(b []byte) (s Sums, err error) {
	r := read(b)
	if r.Byte() != sumsVersion {
		r.Fail()
	}
	s.Sampled, s.Told = r.filled(), r.filled()
	s.Totals = r.lines()
	first := r.Uvarint()
	s.first, s.lines = int(min(first, math.MaxInt32)), r.Bytes
	if r.Bad() || len(s.lines)%sumSize != 0 {
		return s, rowbytes.ErrBytes
	}
	for i := range s.Len() {
		if int(s.size(i)>>stateShift) >= len(stateNames) {
			return s, rowbytes.ErrBytes
		}
	}
	return s, nil
}

// Len is how many lines the row has.
func (s *Sums) Len() int { return len(s.lines) / sumSize }

// First is where the first line begins in the row.
func (s *Sums) First() int { return s.first }

func (s *Sums) size(i int) uint16 {
	return binary.LittleEndian.Uint16(s.lines[i*sumSize+8+rowbytes.ShortSize:])
}

// At is what the sums have of line i.
func (s *Sums) At(i int) Sum {
	b, size := s.lines[i*sumSize:(i+1)*sumSize], s.size(i)
	return Sum{
		Hash: binary.LittleEndian.Uint64(b), Sum: rowbytes.ShortOf(b[8:]), State: stateNames[size>>stateShift],
		Size: int(size & (1<<stateShift - 1)), Classes: int(binary.LittleEndian.Uint16(b[sumSize-2:])),
	}
}

var stateNames = measurements.States()

// DecodeLine reads a line by itself.
func DecodeLine(b []byte) (l Line, err error) {
	r := read(b)
	r.line(&l)
	return l, r.End()
}

// encodeClasses writes the slots of a line by class: which classes there are and, unless it is one
// alone, the slots of each.
func encodeClasses(classes *Classes) []byte {
	out := []byte{0}
	for class, slots := range classes {
		if slots != nil {
			out[0] |= 1 << class
		}
	}
	if bits.OnesCount8(out[0]) > 1 {
		for _, slots := range classes {
			if slots != nil {
				out, _ = appendSlots(out, slots)
			}
		}
	}
	return out
}

// ByClass is what some of a line's slots come to by class, from its bytes of the classes.
func (l *Line) ByClass(classes []byte, slots uint64) (sums measurements.ByClass, err error) {
	r := read(classes)
	mask := r.Byte()
	if int(mask) >= 1<<len(sums) {
		return sums, rowbytes.ErrBytes
	}
	if bits.OnesCount8(mask) == 1 {
		sums[bits.TrailingZeros8(mask)], err = l.Sum(slots)
		return sums, err
	}
	for ; mask != 0; mask &= mask - 1 {
		sums[bits.TrailingZeros8(mask)] = r.sum(slots)
	}
	return sums, r.End()
}
