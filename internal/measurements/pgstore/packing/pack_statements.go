package packing

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"time"

	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/rowbytes"

	"github.com/google/uuid"
)

// Samples of statements are packed by columns: what a statement is called stands there
// once and not in every sample, and numbers of one sort stand beside each other, each as
// short numbers byte by byte. That takes a third of the samples' bytes, of which the times
// are most; a time is right to one part in 10¹⁰ then.
//
//	databases, and of each: its id, statements, and their hashes
//	samples, and of each: its microsecond, databases, and of each: which one it is, how many
//	bits follow, and for each statement a bit, whether it is in the sample
//	the calls of all, doubled, plus one where there is a maximum
//	the first bytes of all times, their second bytes, …; likewise the maxima

// packing is the columns while they are filled.
type packing struct {
	databases     []uuid.UUID
	hashes        [][]uint64 // of each, in order
	shape, calls  []byte
	totals, maxes []float64
}

func packStatements(start time.Time, samples []codec.Sample) ([]byte, error) {
	var p packing
	details := make([]codec.Detail, len(samples))
	for i, s := range samples {
		var err error
		if details[i], err = codec.DecodeStatements(s.Body); err != nil {
			return nil, err
		}
		for j, d := range details[i] {
			details[i][j].Statements = distinct(d.Statements)
			p.learn(d)
		}
	}
	for i := range p.hashes {
		slices.Sort(p.hashes[i])
		p.hashes[i] = slices.Compact(p.hashes[i])
	}
	p.shape = binary.AppendUvarint(p.shape, uint64(len(samples)))
	for i, s := range samples {
		p.shape = binary.AppendUvarint(p.shape, uint64(s.At.Sub(start)/time.Microsecond))
		p.shape = binary.AppendUvarint(p.shape, uint64(len(details[i])))
		for _, d := range details[i] {
			p.add(d)
		}
	}
	return p.bytes(), nil
}

// distinct adds up those of one hash, should there be two.
func distinct(l codec.Deltas) codec.Deltas {
	for i := 1; i < len(l); i++ {
		if l[i].Hash == l[i-1].Hash {
			l[i-1] = l[i-1].Plus(l[i])
			l, i = slices.Delete(l, i, i+1), i-1
		}
	}
	return l
}

// learn notes the database and its statements.
func (p *packing) learn(d codec.DatabaseStatements) {
	at := slices.Index(p.databases, d.Database)
	if at < 0 {
		at = len(p.databases)
		p.databases, p.hashes = append(p.databases, d.Database), append(p.hashes, nil)
	}
	for _, one := range d.Statements {
		p.hashes[at] = append(p.hashes[at], one.Hash)
	}
}

// add adds what a sample has of a database.
func (p *packing) add(d codec.DatabaseStatements) {
	at := slices.Index(p.databases, d.Database)
	p.shape = binary.AppendUvarint(p.shape, uint64(at))
	here := make([]byte, (len(p.hashes[at])+7)/8)
	place := 0
	for _, one := range d.Statements { // both are in order
		for p.hashes[at][place] != one.Hash {
			place++
		}
		here[place/8] |= 1 << (place % 8)
		p.totals = append(p.totals, one.Total)
		if math.IsNaN(one.Max) {
			p.calls = binary.AppendUvarint(p.calls, one.Calls<<1)
			continue
		}
		p.calls, p.maxes = binary.AppendUvarint(p.calls, one.Calls<<1|1), append(p.maxes, one.Max)
	}
	p.shape = append(p.shape, here...)
}

func (p *packing) bytes() []byte {
	out := binary.AppendUvarint(nil, uint64(len(p.databases)))
	for i, id := range p.databases {
		out = binary.AppendUvarint(append(out, id[:]...), uint64(len(p.hashes[i])))
		for _, hash := range p.hashes[i] {
			out = binary.BigEndian.AppendUint64(out, hash)
		}
	}
	out = append(append(out, p.shape...), p.calls...)
	return appendPlanes(appendPlanes(out, p.totals), p.maxes)
}

// appendPlanes appends short numbers, the first bytes of all of them first.
func appendPlanes(out []byte, numbers []float64) []byte {
	first := len(out)
	out = append(out, make([]byte, rowbytes.ShortSize*len(numbers))...)
	var short []byte
	for i, x := range numbers {
		short = rowbytes.AppendShort(short[:0], x)
		for plane, b := range short {
			out[first+plane*len(numbers)+i] = b
		}
	}
	return out
}

// plane is number i of n that appendPlanes appended.
func plane(planes []byte, n, i int) float64 {
	var short [rowbytes.ShortSize]byte
	for p := range short {
		short[p] = planes[p*n+i]
	}
	return rowbytes.ShortOf(short[:])
}

// unpacking is a block of statements while it is read.
type unpacking struct {
	databases []uuid.UUID
	hashes    [][]byte // of each, eight bytes a statement
	samples   []packedSample
	calls     []uint64
	maxes     int // how many of those have one
}

// packedSample is what a sample has of each database.
type packedSample struct {
	at    time.Time
	parts []packedPart
	count int // of statements
}

// packedPart is what a sample has of a database.
type packedPart struct {
	database int
	bits     []byte
	count    int
}

// unpackStatements returns the samples that packStatements packed, from one time on and before
// another. It makes only their bodies: a reader of one minute reads ten.
func unpackStatements(start time.Time, plain []byte, from, to time.Time) ([]codec.Sample, error) {
	if len(plain) == 0 {
		return nil, nil
	}
	r := rowbytes.Reader{Bytes: plain}
	u := readUnpacking(&r, start)
	n := len(u.calls)
	totals := r.Take(rowbytes.ShortSize * n)
	most := r.Take(rowbytes.ShortSize * u.maxes)
	if err := r.End(); err != nil {
		return nil, err
	}
	var samples []codec.Sample
	next, nextMax := 0, 0
	for _, s := range u.samples {
		if s.at.Before(from) || !s.at.Before(to) {
			for _, calls := range u.calls[next : next+s.count] {
				nextMax += int(calls & 1)
			}
			next += s.count
			continue
		}
		body := make([]byte, 0, len(s.parts)*(len(uuid.UUID{})+3)+s.count*(codec.LeastDelta+2))
		for _, part := range s.parts {
			body = binary.AppendUvarint(append(body, u.databases[part.database][:]...), uint64(part.count))
			hashes := u.hashes[part.database]
			for at, eight := range part.bits {
				for ; eight != 0; eight &= eight - 1 {
					place := 8 * (8*at + bits.TrailingZeros8(eight))
					body = append(body, hashes[place:place+8]...)
					body = binary.AppendUvarint(body, u.calls[next])
					body = rowbytes.AppendFloat(body, plane(totals, n, next))
					if u.calls[next]&1 != 0 {
						body = rowbytes.AppendFloat(body, plane(most, u.maxes, nextMax))
						nextMax++
					}
					next++
				}
			}
		}
		samples = append(samples, codec.Sample{At: s.at, Body: body})
	}
	return samples, nil
}

// readUnpacking reads everything but the times.
func readUnpacking(r *rowbytes.Reader, start time.Time) (u unpacking) {
	count := r.Count(len(uuid.UUID{}) + 1)
	u.databases, u.hashes = make([]uuid.UUID, count), make([][]byte, count)
	for i := range u.databases {
		u.databases[i] = r.UUID()
		u.hashes[i] = r.Take(8 * r.Count(8))
	}
	u.samples = make([]packedSample, r.Count(2))
	n := 0
	for i := range u.samples {
		s := &u.samples[i]
		s.at = start.Add(time.Duration(r.Uvarint()) * time.Microsecond)
		s.parts = make([]packedPart, r.Count(1))
		for j := range s.parts {
			s.parts[j] = readPart(r, u.hashes)
			s.count += s.parts[j].count
		}
		n += s.count
	}
	if n > len(r.Bytes) { // each has a byte of calls at least
		r.Fail()
		n = 0
	}
	u.calls = make([]uint64, n)
	for i := range u.calls {
		u.calls[i] = r.Uvarint()
		u.maxes += int(u.calls[i] & 1)
	}
	return u
}

// readPart reads which statements of a database are in a sample.
func readPart(r *rowbytes.Reader, hashes [][]byte) (p packedPart) {
	at := r.Uvarint()
	if at >= uint64(len(hashes)) {
		r.Fail()
		return p
	}
	known := len(hashes[at]) / 8
	p.database, p.bits = int(at), r.Take((known+7)/8)
	for _, eight := range p.bits {
		p.count += bits.OnesCount8(eight)
	}
	if last := known % 8; last != 0 && len(p.bits) > 0 && p.bits[len(p.bits)-1]>>last != 0 {
		r.Fail()
	}
	return p
}
