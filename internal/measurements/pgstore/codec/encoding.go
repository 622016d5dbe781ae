package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/google/uuid"
)

// ErrBytes says that bytes are not ones that this package made.
var ErrBytes = errors.New("the bytes are none that the store wrote")

// reader takes values off the front of bytes. It remembers the first missing value, and
// everything after it is zero: the caller asks once, at the end.
type reader struct {
	bytes []byte
	bad   bool
}

func (r *reader) fail() { r.bytes, r.bad = nil, true }

// end is nil where everything was read, and nothing is left.
func (r *reader) end() error {
	if r.bad || len(r.bytes) > 0 {
		return ErrBytes
	}
	return nil
}

func (r *reader) byte() byte {
	if len(r.bytes) == 0 {
		r.fail()
		return 0
	}
	b := r.bytes[0]
	r.bytes = r.bytes[1:]
	return b
}

func (r *reader) uvarint() uint64 {
	if len(r.bytes) > 0 && r.bytes[0] < 0x80 { // nearly always
		return uint64(r.byte())
	}
	v, n := binary.Uvarint(r.bytes)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.bytes = r.bytes[n:]
	return v
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.bytes)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.bytes = r.bytes[n:]
	return v
}

// count is a number of things of at least size bytes each, so that no more are made
// room for than there can be.
func (r *reader) count(size int) int {
	n := r.uvarint()
	if n > uint64(len(r.bytes)/size) {
		r.fail()
		return 0
	}
	return int(n)
}

// Take returns the next n bytes themselves.
func (r *reader) Take(n int) []byte {
	if n < 0 || n > len(r.bytes) {
		r.fail()
		return nil
	}
	b := r.bytes[:n:n]
	r.bytes = r.bytes[n:]
	return b
}

func (r *reader) uint64() uint64 {
	b := r.Take(8)
	if b == nil {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

func (r *reader) uuid() (id uuid.UUID) {
	copy(id[:], r.Take(len(id)))
	return id
}

func (r *reader) float() float64 { return math.Float64frombits(r.uint64()) }

func appendFloat(b []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(b, math.Float64bits(v))
}

// appendScaled writes a number that often is a whole one when it is multiplied by
// scale, and not below 0, like bytes or hundredths of a second, in as many bytes as that
// one takes; any other number takes nine.
func appendScaled(b []byte, v, scale float64) []byte {
	const most = 1 << 53 // a float64 has every whole number up to it
	if n := math.Round(v * scale); n >= 0 && n < most && n/scale == v && !math.Signbit(v) {
		return binary.AppendUvarint(b, uint64(n)<<1)
	}
	return appendFloat(append(b, 1), v)
}

// scaled is a number of appendScaled.
func (r *reader) scaled(scale float64) float64 {
	if n := r.uvarint(); n&1 == 0 {
		return float64(n>>1) / scale
	}
	return r.float()
}

// A short number is the upper 48 bits of a float64, rounded: 36 of its fraction, a
// relative error below 1e-11. The rows of a tile are a quarter smaller so, and reading
// them is what its time goes into.
const (
	shortSize = 6
	infinite  = 0x7ff // the upper bits of a number that is not finite
)

func appendShort(b []byte, v float64) []byte {
	bits := math.Float64bits(v)
	if rounded := bits + 1<<15; rounded>>52 < infinite {
		bits = rounded
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(bits>>16))
	return binary.LittleEndian.AppendUint16(b, uint16(bits>>48))
}

// short is a number of appendShort.
func (r *reader) short() float64 {
	if len(r.bytes) < shortSize {
		r.fail()
		return 0
	}
	v := shortOf(r.bytes)
	r.bytes = r.bytes[shortSize:]
	return v
}

// shortOf is the number that bytes begin with, which are enough.
func shortOf(b []byte) float64 {
	_ = b[shortSize-1]
	return math.Float64frombits(uint64(binary.LittleEndian.Uint32(b))<<16 | uint64(binary.LittleEndian.Uint16(b[4:]))<<48)
}

// nextSlot takes the first slot off a row. Rows are slots behind their lengths, the
// last ones left out where they are empty.
func nextSlot(row []byte) (slot, rest []byte, err error) {
	n, skip := uint64(row[0]), 1
	if n >= 0x80 { // seldom
		if n, skip = binary.Uvarint(row); skip <= 0 {
			return nil, nil, ErrBytes
		}
	}
	if n > uint64(len(row)-skip) {
		return nil, nil, ErrBytes
	}
	end := skip + int(n)
	return row[skip:end:end], row[end:], nil
}

// slotsOf returns the slots of a row, at least n of them; nil if there is none.
func slotsOf(row []byte, n int) ([][]byte, error) {
	slots := make([][]byte, 0, n)
	for len(row) > 0 {
		slot, rest, err := nextSlot(row)
		if err != nil {
			return nil, fmt.Errorf("slot %d: %w", len(slots), err)
		}
		if len(slot) == 0 {
			slot = nil
		}
		slots, row = append(slots, slot), rest
	}
	for len(slots) < n {
		slots = append(slots, nil)
	}
	return slots, nil
}

// addUpSlots is the sum of the first n slots of a row; none is that of no slot.
func addUpSlots[S interface{ encode() []byte }](row []byte, n int, none S, decode func(slot []byte) (S, error), add func(sum *S, one S)) ([]byte, error) {
	slots, err := slotsOf(row, n)
	if err != nil {
		return nil, err
	}
	sum := none
	for _, slot := range slots[:n] {
		one, err := decode(slot)
		if err != nil {
			return nil, err
		}
		add(&sum, one)
	}
	return sum.encode(), nil
}

// RowOf is the row of slots; nil of none.
func RowOf(slots [][]byte) []byte {
	for len(slots) > 0 && len(slots[len(slots)-1]) == 0 {
		slots = slots[:len(slots)-1]
	}
	if len(slots) == 0 {
		return nil
	}
	size := 0
	for _, s := range slots {
		size += len(s) + 2
	}
	row := make([]byte, 0, size)
	for _, s := range slots {
		row = append(binary.AppendUvarint(row, uint64(len(s))), s...)
	}
	return row
}

// slotRows is what kinds have in common whose rows are slots and nothing else.
type slotRows struct{}

func (slotRows) Slot(row []byte, i int) ([]byte, error) {
	slots, err := slotsOf(row, i+1)
	if err != nil {
		return nil, err
	}
	return slots[i], nil
}

func (slotRows) Set(row []byte, i int, slot []byte) ([]byte, error) {
	slots, err := slotsOf(row, i+1)
	if err != nil {
		return nil, err
	}
	slots[i] = slot
	return RowOf(slots), nil
}
