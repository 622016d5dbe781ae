package pgstore

import "time"

// nextTo is how many bytes may be between two spans that are read as one piece: PostgreSQL keeps 2 kB
// of a value together.
const nextTo = 1 << 10

// The columns of a row of activity that pieces are read of.
const (
	ofLines = iota
	ofClasses
	columns // how many there are
)

// piece is a part of a column of a row.
type piece struct {
	Start     time.Time
	OfClasses bool
	Place     int32 // of its first byte
	Size      int32
}

// span is where something is in a column, in bytes.
type span struct{ from, size int32 }

// rowPieces are the parts of a column that are read.
type rowPieces struct {
	spans []span
	found [][]byte // of each span
}

// wholePiece is a column that was read as a whole; nil: it was not.
func wholePiece(b []byte) rowPieces {
	if b == nil {
		return rowPieces{}
	}
	return rowPieces{spans: []span{{0, int32(len(b))}}, found: [][]byte{b}}
}

// want adds a span behind all others, unless the column was read.
func (p *rowPieces) want(one span) {
	last := len(p.spans) - 1
	switch {
	case len(p.found) > 0 || one.size == 0:
	case last >= 0 && one.from-p.spans[last].from-p.spans[last].size <= nextTo:
		p.spans[last].size = one.from + one.size - p.spans[last].from
	default:
		p.spans = append(p.spans, one)
	}
}

// missing are the spans that have to be read.
func (p *rowPieces) missing() []span {
	if len(p.found) > 0 {
		return nil
	}
	return p.spans
}

// take takes what was read of the missing spans, and returns what is left.
func (p *rowPieces) take(found [][]byte) (left [][]byte) {
	if n := len(p.missing()); n > 0 && n <= len(found) {
		p.found, found = found[:n:n], found[n:]
	}
	return found
}

// bytes are those of a span; nil: they were not read.
func (p *rowPieces) bytes(of span) []byte {
	for i, one := range p.spans {
		from, end := of.from-one.from, of.from-one.from+of.size
		if from >= 0 && i < len(p.found) && int(end) <= len(p.found[i]) {
			return p.found[i][from:end]
		}
	}
	return nil
}
