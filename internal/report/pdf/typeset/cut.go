package typeset

import (
	"encoding/binary"
	"maps"
	"slices"
)

// runeSet is a set of runes of the basic plane.
type runeSet [1 << 10]uint64

func (s *runeSet) add(r rune) { s[r>>6&0x3FF] |= 1 << (r & 63) }

// all are its runes in ascending order.
func (s *runeSet) all() []rune {
	var out []rune
	for i, word := range s {
		for bit := rune(0); word != 0; bit, word = bit+1, word>>1 {
			if word&1 != 0 {
				out = append(out, rune(i)<<6+bit)
			}
		}
	}
	return out
}

// cut is the font with the glyphs of some runes only, as a TrueType file. gofpdf cuts out
// what a document uses by itself, but reads and sums up the whole font first, which takes
// 10 ms a font and document; of a font that was cut it takes a tenth. The order of the
// glyphs is that of gofpdf, which leaves the second cut nothing to do.
func (f *font) cut(runes []rune) []byte {
	glyphs := f.closure(runes)
	number := make(map[uint16]uint16, len(glyphs))
	for i, glyph := range glyphs {
		number[glyph] = uint16(i)
	}
	var glyf, loca, hmtx []byte
	for _, glyph := range glyphs {
		loca = binary.BigEndian.AppendUint32(loca, uint32(len(glyf)))
		outline := slices.Clone(f.outline(glyph))
		for at := range components(outline) {
			binary.BigEndian.PutUint16(outline[at:], number[binary.BigEndian.Uint16(outline[at:])])
		}
		glyf = padded(append(glyf, outline...))
		advance, bearing := f.metrics(glyph)
		hmtx = binary.BigEndian.AppendUint16(hmtx, advance)
		hmtx = binary.BigEndian.AppendUint16(hmtx, bearing)
	}
	loca = binary.BigEndian.AppendUint32(loca, uint32(len(glyf)))
	tables := map[string][]byte{
		"cmap": f.characterMap(runes, number), "glyf": glyf, "hmtx": hmtx, "loca": loca,
		"head": changed(f.tables["head"], 50, 1), // offsets of 32 bits
		"hhea": changed(f.tables["hhea"], 34, len(glyphs)),
		"maxp": changed(f.tables["maxp"], 4, len(glyphs)),
	}
	for _, name := range []string{"OS/2", "cvt ", "fpgm", "gasp", "name", "post", "prep"} {
		if table := f.tables[name]; len(table) > 0 {
			tables[name] = table
		}
	}
	return assembled(tables)
}

// closure is the glyphs of runes, that of nothing first, and behind them those that they
// are composed of.
func (f *font) closure(runes []rune) []uint16 {
	glyphs := []uint16{0}
	for _, r := range runes {
		glyphs = append(glyphs, f.glyphs[r])
	}
	slices.Sort(glyphs)
	glyphs = slices.Compact(glyphs)
	have := make(map[uint16]bool, len(glyphs))
	for _, glyph := range glyphs {
		have[glyph] = true
	}
	var follow func(glyph uint16)
	follow = func(glyph uint16) {
		outline := f.outline(glyph)
		for at := range components(outline) {
			part := binary.BigEndian.Uint16(outline[at:])
			if !have[part] {
				have[part] = true
				glyphs = append(glyphs, part)
				follow(part)
			}
		}
	}
	for _, glyph := range slices.Clone(glyphs) {
		follow(glyph)
	}
	return glyphs
}

// Flags of a component (OpenType 1.9, glyf).
const (
	argumentsAreWords = 1 << 0
	hasScale          = 1 << 3
	moreComponents    = 1 << 5
	hasTwoScales      = 1 << 6
	hasMatrix         = 1 << 7
)

// components yields where in an outline the numbers of the glyphs stand that it is
// composed of.
func components(outline []byte) func(yield func(at int) bool) {
	return func(yield func(at int) bool) {
		if len(outline) < 10 || int16(binary.BigEndian.Uint16(outline)) >= 0 {
			return
		}
		for at, flags := 10, moreComponents; flags&moreComponents != 0; {
			flags = int(binary.BigEndian.Uint16(outline[at:]))
			if !yield(at + 2) {
				return
			}
			at += 6
			if flags&argumentsAreWords != 0 {
				at += 2
			}
			switch {
			case flags&hasScale != 0:
				at += 2
			case flags&hasTwoScales != 0:
				at += 4
			case flags&hasMatrix != 0:
				at += 8
			}
		}
	}
}

// outline is the data that draws a glyph; empty for a blank one.
func (f *font) outline(glyph uint16) []byte {
	loca, glyf := f.tables["loca"], f.tables["glyf"]
	if binary.BigEndian.Uint16(f.tables["head"][50:]) == 0 {
		at := loca[2*int(glyph):]
		return glyf[2*int(binary.BigEndian.Uint16(at)) : 2*int(binary.BigEndian.Uint16(at[2:]))]
	}
	at := loca[4*int(glyph):]
	return glyf[binary.BigEndian.Uint32(at):binary.BigEndian.Uint32(at[4:])]
}

// metrics are a glyph's advance width and the white to its left, in units of the font.
// The last glyphs may share one advance (OpenType 1.9, hmtx).
func (f *font) metrics(glyph uint16) (advance, bearing uint16) {
	hmtx, full := f.tables["hmtx"], int(binary.BigEndian.Uint16(f.tables["hhea"][34:]))
	n := int(glyph)
	if n < full {
		return binary.BigEndian.Uint16(hmtx[4*n:]), binary.BigEndian.Uint16(hmtx[4*n+2:])
	}
	return binary.BigEndian.Uint16(hmtx[4*full-4:]), binary.BigEndian.Uint16(hmtx[4*full+2*(n-full):])
}

// characterMap is a cmap of one subtable of format 4, a segment for each run of runes
// whose glyphs follow one another.
func (f *font) characterMap(runes []rune, number map[uint16]uint16) []byte {
	var starts, ends, deltas []uint16
	for _, r := range runes {
		delta := number[f.glyphs[r]] - uint16(r)
		if last := len(ends) - 1; last >= 0 && uint16(r) == ends[last]+1 && deltas[last] == delta {
			ends[last] = uint16(r)
			continue
		}
		starts, ends, deltas = append(starts, uint16(r)), append(ends, uint16(r)), append(deltas, delta)
	}
	starts, ends, deltas = append(starts, 0xFFFF), append(ends, 0xFFFF), append(deltas, 1)
	segments := len(ends)
	words := []uint16{
		0, 1, 3, 1, 0, 12, // one table, for Windows and Unicode, behind this line
		4, uint16(16 + 8*segments), 0, uint16(2 * segments), 0, 0, 0, // gofpdf does not search by halves
	}
	words = slices.Concat(words, ends, []uint16{0}, starts, deltas, make([]uint16, segments))
	out := make([]byte, 0, 2*len(words))
	for _, w := range words {
		out = binary.BigEndian.AppendUint16(out, w)
	}
	return out
}

func padded(b []byte) []byte { return append(b, make([]byte, -len(b)&3)...) }

// changed is a table with another number in one place.
func changed(table []byte, at, n int) []byte {
	table = slices.Clone(table)
	binary.BigEndian.PutUint16(table[at:], uint16(n))
	return table
}

// assembled is a TrueType file of tables. Only gofpdf reads it, which checks no checksum and
// makes its own.
func assembled(tables map[string][]byte) []byte {
	out := []byte{0, 1, 0, 0}
	for _, n := range []int{len(tables), 0, 0, 0} {
		out = binary.BigEndian.AppendUint16(out, uint16(n))
	}
	at := 12 + 16*len(tables)
	var body []byte
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		out = append(append(out, name...), 0, 0, 0, 0)
		out = binary.BigEndian.AppendUint32(out, uint32(at+len(body)))
		out = binary.BigEndian.AppendUint32(out, uint32(len(tables[name])))
		body = padded(append(body, tables[name]...))
	}
	return append(out, body...)
}
