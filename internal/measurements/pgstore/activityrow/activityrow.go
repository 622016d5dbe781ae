// Package activityrow has the rows of activity of whole organizations, which sum those of servers up.
package activityrow

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/rowbytes"
)

// states is by how much a state is multiplied in the byte that it shares with a class.
const states = 8

// reader reads the parts of a row, too.
type reader struct{ rowbytes.Reader }

func read(b []byte) reader { return reader{rowbytes.Reader{Bytes: b}} }

// Row is a row of activity of all instances of an engine by one dimension: a line for
// each of its values and each state, which has the average sessions of each slot. Bits of Sampled
// and Told are the slots in which sessions were sampled, and in which those on the CPU were.
// Totals are what the lines of each state come to: a reader of some lines knows the others by it.
type Row struct {
	Sampled, Told uint64
	Totals, Lines []Line
}

// Line is a line of the row.
type Line struct {
	ID      ID
	sum     float64 // of all slots
	state   byte
	slots   []byte
	classes []byte // beside the row
}

// Classes are the values of slots, 64 at most, of each class, at its place of measurements.ByClass; nil:
// there is none of it.
type Classes [len(measurements.ByClass{})][]float64

// NewLine is a line of a state of a combination.
func NewLine(key measurements.ActivityKey, state byte, classes *Classes) Line {
	l := Line{ID: IDOf(key), state: state, classes: encodeClasses(classes)}
	var all []float64
	for _, slots := range classes {
		switch {
		case slots == nil:
		case all == nil:
			all = slices.Clone(slots)
		default:
			for slot, v := range slots {
				all[slot] += v
			}
		}
	}
	l.slots, l.sum = appendSlots(nil, all)
	return l
}

// appendSlots writes which slots are filled, and their values.
func appendSlots(out []byte, slots []float64) (_ []byte, sum float64) {
	filled := uint64(0)
	for slot, v := range slots {
		if v > 0 {
			filled |= 1 << slot
			sum += v
		}
	}
	out = binary.LittleEndian.AppendUint64(out, filled)
	for _, v := range slots {
		if v > 0 {
			out = appendAverage(out, v)
		}
	}
	return out, sum
}

// State is the state of its sessions.
func (l *Line) State() measurements.State { return measurements.States()[l.state] }

// averageScale has most averages as whole numbers: those over one to six samples.
const averageScale = 60

// appendAverage writes an average number of sessions that is above 0: in the bytes of its whole
// number of sixtieths, or as a short number behind a 0.
func appendAverage(out []byte, v float64) []byte {
	const most, digits = 1 << 40, 1e-12
	if n := math.Round(v * averageScale); n >= 1 && n < most && math.Abs(v*averageScale-n) <= n*digits {
		return binary.AppendUvarint(out, uint64(n))
	}
	return rowbytes.AppendShort(append(out, 0), v)
}

func (r *reader) average() float64 {
	if b := r.Bytes; len(b) > 1 && b[0] >= 0x80 && b[1] < 0x80 { // often
		r.Bytes = b[2:]
		return float64(uint64(b[0]&0x7f)|uint64(b[1])<<7) / averageScale
	}
	if n := r.Uvarint(); n > 0 {
		return float64(n) / averageScale
	}
	return r.Short()
}

// Sum adds up some of its slots.
func (l *Line) Sum(slots uint64) (sum float64, err error) {
	if len(l.slots) >= 8 && binary.LittleEndian.Uint64(l.slots)&^slots == 0 {
		return l.sum, nil
	}
	r := read(l.slots)
	sum = r.sum(slots)
	return sum, r.End()
}

// sum adds up some of the slots that appendSlots wrote.
func (r *reader) sum(slots uint64) (sum float64) {
	for filled := r.filled(); filled != 0; filled &= filled - 1 {
		if v := r.average(); slots>>bits.TrailingZeros64(filled)&1 == 1 {
			sum += v
		}
	}
	return sum
}

// AddTo adds its slots from first on and before end to values, of which the first is of slot 0, if
// that is one of them.
func (l *Line) AddTo(values []float64, of, first, end int) error {
	r := read(l.slots)
	for filled := r.filled(); filled != 0; filled &= filled - 1 {
		v := r.average()
		if r.Bad() {
			break
		}
		if slot := bits.TrailingZeros64(filled); slot >= first && slot < end {
			if at := of + slot; at >= 0 && at < len(values) {
				values[at] += v
			}
		}
	}
	return r.End()
}

// filled are bits of slots.
func (r *reader) filled() uint64 {
	b := r.Take(8)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// appendLines returns the sizes of the lines, too.
func appendLines(row []byte, lines []Line) (_ []byte, sizes []int) {
	row = binary.AppendUvarint(row, uint64(len(lines)))
	sizes = make([]int, len(lines))
	for i := range lines {
		l, before := &lines[i], len(row)
		row = l.appendID(row)
		row = rowbytes.AppendShort(row, l.sum)
		row = binary.AppendUvarint(row, uint64(len(l.slots)))
		row = append(row, l.slots...)
		sizes[i] = len(row) - before
	}
	return row, sizes
}

func (r *reader) lines() []Line {
	const least = 2 + rowbytes.ShortSize + 1 // of a line
	lines := make([]Line, r.Count(least))
	for i := range lines {
		r.line(&lines[i])
	}
	return lines
}

func (r *reader) line(l *Line) {
	r.lineID(l)
	l.sum, l.slots = r.Short(), r.Take(r.Count(1))
}

// Decode reads a row. It refers to the row's bytes.
func Decode(row []byte) (o Row, err error) {
	r := read(row)
	o.Sampled, o.Told = r.filled(), r.filled()
	o.Totals = r.lines()
	o.Lines = r.lines()
	return o, r.End()
}
