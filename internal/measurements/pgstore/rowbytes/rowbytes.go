// Package rowbytes reads and writes the numbers and slots of which stored rows consist. Package
// codec says which rows have which. Wrong bytes are an error and never a panic.
package rowbytes

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/google/uuid"
)

// ErrBytes says that bytes are not ones that this package made.
var ErrBytes = errors.New("the bytes are none that the store wrote")

// Reader takes values off the front of bytes. It remembers the first missing value, and
// everything after it is zero: the caller asks once, at the end.
type Reader struct {
	Bytes []byte // those that are left
	bad   bool
}

// Fail makes everything that follows zero, as if a value were missing.
func (r *Reader) Fail() { r.Bytes, r.bad = nil, true }

// Bad says whether a value was missing.
func (r *Reader) Bad() bool { return r.bad }

// End is nil where everything was read, and nothing is left.
func (r *Reader) End() error {
	if r.bad || len(r.Bytes) > 0 {
		return ErrBytes
	}
	return nil
}

// Byte returns the next byte.
func (r *Reader) Byte() byte {
	if len(r.Bytes) == 0 {
		r.Fail()
		return 0
	}
	b := r.Bytes[0]
	r.Bytes = r.Bytes[1:]
	return b
}

// Uvarint returns the next number in base 128.
func (r *Reader) Uvarint() uint64 {
	if len(r.Bytes) > 0 && r.Bytes[0] < 0x80 { // nearly always
		return uint64(r.Byte())
	}
	v, n := binary.Uvarint(r.Bytes)
	if n <= 0 {
		r.Fail()
		return 0
	}
	r.Bytes = r.Bytes[n:]
	return v
}

// Varint returns the next signed number in base 128.
func (r *Reader) Varint() int64 {
	v, n := binary.Varint(r.Bytes)
	if n <= 0 {
		r.Fail()
		return 0
	}
	r.Bytes = r.Bytes[n:]
	return v
}

// Count is a number of things of at least size bytes each, so that no more are made
// room for than there can be.
func (r *Reader) Count(size int) int {
	n := r.Uvarint()
	if n > uint64(len(r.Bytes)/size) {
		r.Fail()
		return 0
	}
	return int(n)
}

// Take returns the next n bytes themselves.
func (r *Reader) Take(n int) []byte {
	if n < 0 || n > len(r.Bytes) {
		r.Fail()
		return nil
	}
	b := r.Bytes[:n:n]
	r.Bytes = r.Bytes[n:]
	return b
}

// Uint64 returns the next eight bytes, big-endian.
func (r *Reader) Uint64() uint64 {
	b := r.Take(8)
	if b == nil {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

// UUID returns the next sixteen bytes.
func (r *Reader) UUID() (id uuid.UUID) {
	copy(id[:], r.Take(len(id)))
	return id
}

// Float returns the next number of AppendFloat.
func (r *Reader) Float() float64 { return math.Float64frombits(r.Uint64()) }

// AppendFloat writes a number in eight bytes.
func AppendFloat(b []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(b, math.Float64bits(v))
}

// AppendScaled writes a number that often is a whole one when it is multiplied by
// scale, and not below 0, like bytes or hundredths of a second, in as many bytes as that
// one takes; any other number takes nine.
func AppendScaled(b []byte, v, scale float64) []byte {
	const most = 1 << 53 // a float64 has every whole number up to it
	if n := math.Round(v * scale); n >= 0 && n < most && n/scale == v && !math.Signbit(v) {
		return binary.AppendUvarint(b, uint64(n)<<1)
	}
	return AppendFloat(append(b, 1), v)
}

// Scaled is a number of AppendScaled.
func (r *Reader) Scaled(scale float64) float64 {
	if n := r.Uvarint(); n&1 == 0 {
		return float64(n>>1) / scale
	}
	return r.Float()
}

// A short number is the upper 48 bits of a float64, rounded: 36 of its fraction, a
// relative error below 1e-11. The rows of a tile are a quarter smaller so, and reading
// them is what its time goes into.
const (
	ShortSize = 6
	infinite  = 0x7ff // the upper bits of a number that is not finite
)

// AppendShort writes a number in ShortSize bytes.
func AppendShort(b []byte, v float64) []byte {
	bits := math.Float64bits(v)
	if rounded := bits + 1<<15; rounded>>52 < infinite {
		bits = rounded
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(bits>>16))
	return binary.LittleEndian.AppendUint16(b, uint16(bits>>48))
}

// Short is a number of AppendShort.
func (r *Reader) Short() float64 {
	if len(r.Bytes) < ShortSize {
		r.Fail()
		return 0
	}
	v := ShortOf(r.Bytes)
	r.Bytes = r.Bytes[ShortSize:]
	return v
}

// ShortOf is the number that bytes begin with, which are enough.
func ShortOf(b []byte) float64 {
	_ = b[ShortSize-1]
	return math.Float64frombits(uint64(binary.LittleEndian.Uint32(b))<<16 | uint64(binary.LittleEndian.Uint16(b[4:]))<<48)
}

// NextSlot takes the first slot off a row. Rows are slots behind their lengths, the
// last ones left out where they are empty.
func NextSlot(row []byte) (slot, rest []byte, err error) {
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

// SlotsOf returns the slots of a row, at least n of them; nil if there is none.
func SlotsOf(row []byte, n int) ([][]byte, error) {
	slots := make([][]byte, 0, n)
	for len(row) > 0 {
		slot, rest, err := NextSlot(row)
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
