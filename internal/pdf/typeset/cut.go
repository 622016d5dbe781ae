package typeset

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
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

// embedded is a font as a document has it.
type embedded struct {
	face  Face
	font  *font
	runes []rune // that it prints
}

// objects are the font as PDF knows it (ISO 32000-1, 9.7): text is in UTF-16, so that what
// a rune is needs no table, and CIDToGIDMap leads from there to glyphs.
func (e embedded) objects(first int) ([]object, error) {
	file, number := e.font.cut(e.runes)
	glyphs := make([]byte, 2*(int(e.runes[len(e.runes)-1])+1))
	for _, r := range e.runes {
		binary.BigEndian.PutUint16(glyphs[2*r:], number[e.font.glyphs[r]])
	}
	packed := make([][]byte, 3)
	for i, plain := range [][]byte{e.toUnicode(), glyphs, file} {
		var err error
		if packed[i], err = compressed(plain); err != nil {
			return nil, err
		}
	}
	name := e.name(file)
	dictionary := func(at int, format string, values ...any) object {
		text := fmt.Appendf(nil, "%d 0 obj\n<<", first+at)
		text = fmt.Appendf(text, format, values...)
		return object{number: first + at, text: append(text, ">>\nendobj\n"...)}
	}
	head, hhea, os2 := e.font.tables["head"], e.font.tables["hhea"], e.font.tables["OS/2"]
	at := func(table []byte, offset int) int {
		return int(math.Round(float64(int16(binary.BigEndian.Uint16(table[offset:]))) * e.font.scale()))
	}
	capital := at(hhea, 4)
	if binary.BigEndian.Uint16(os2) > 1 {
		capital = at(os2, 88)
	}
	return []object{
		dictionary(0, "/Type /Font /Subtype /Type0 /BaseFont /%s /Encoding /Identity-H /DescendantFonts [%d 0 R] /ToUnicode %d 0 R", name, first+1, first+3),
		dictionary(1, "/Type /Font /Subtype /CIDFontType2 /BaseFont /%s /CIDSystemInfo <</Registry (Adobe) /Ordering (Identity) /Supplement 0>> /FontDescriptor %d 0 R /CIDToGIDMap %d 0 R /W [%s]",
			name, first+2, first+4, e.widths()),
		dictionary(2, "/Type /FontDescriptor /FontName /%s /Flags 4 /FontBBox [%d %d %d %d] /ItalicAngle 0 /Ascent %d /Descent %d /CapHeight %d /StemV 80 /FontFile2 %d 0 R",
			name, at(head, 36), at(head, 38), at(head, 40), at(head, 42), at(hhea, 4), at(hhea, 6), capital, first+5),
		stream(first+3, "", packed[0]),
		stream(first+4, "", packed[1]),
		stream(first+5, fmt.Sprintf(" /Length1 %d", len(file)), packed[2]),
	}, nil
}

// name is the font's with a tag of its own for what was cut out of it (9.6.4).
func (e embedded) name(file []byte) string {
	sum := sha256.Sum256(file)
	tag := make([]byte, 6)
	for i := range tag {
		tag[i] = 'A' + sum[i]%26
	}
	return string(tag) + "+" + [...]string{"LiberationSans", "LiberationSans-Bold", "LiberationMono", "DejaVuSans", "DroidSansFallback", "NanumGothic"}[e.face]
}

// widths are those of all runes, in runs of runes that follow one another.
func (e embedded) widths() []byte {
	var out []byte
	for i, r := range e.runes {
		if i == 0 || e.runes[i-1] != r-1 {
			if i > 0 {
				out = append(out, "] "...)
			}
			out = fmt.Appendf(out, "%d [", r)
		} else {
			out = append(out, ' ')
		}
		out = strconv.AppendInt(out, int64(e.font.widths[r]), 10)
	}
	return append(out, ']')
}

// toUnicode says that each number is its rune, block by block: a range has one first byte.
func (e embedded) toUnicode() []byte {
	var ranges []string
	for i, r := range e.runes {
		if i == 0 || e.runes[i-1]>>8 != r>>8 {
			ranges = append(ranges, fmt.Sprintf("<%02X00> <%02XFF> <%02X00>\n", r>>8, r>>8, r>>8))
		}
	}
	out := []byte("/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CIDSystemInfo <</Registry (Adobe) /Ordering (UCS) /Supplement 0>> def\n" +
		"/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n")
	for some := range slices.Chunk(ranges, 100) { // as many as one may have
		out = fmt.Appendf(out, "%d beginbfrange\n%sendbfrange\n", len(some), strings.Join(some, ""))
	}
	return append(out, "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend"...)
}

// cut is the font with the glyphs of some runes only, as a TrueType file, and which number
// each glyph has there.
func (f *font) cut(runes []rune) (file []byte, number map[uint16]uint16) {
	glyphs := f.closure(runes)
	number = make(map[uint16]uint16, len(glyphs))
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
		"glyf": glyf, "hmtx": hmtx, "loca": loca,
		"head": changed(f.tables["head"], 50, 1), // offsets of 32 bits
		"hhea": changed(f.tables["hhea"], 34, len(glyphs)),
		"maxp": changed(f.tables["maxp"], 4, len(glyphs)),
	}
	for _, name := range []string{"cvt ", "fpgm", "prep"} {
		if table := f.tables[name]; len(table) > 0 {
			tables[name] = table
		}
	}
	return assembled(tables), number
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

// outline is what draws a glyph; empty for one that is blank.
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

func padded(b []byte) []byte { return append(b, make([]byte, -len(b)&3)...) }

// changed is a table with another number in one place.
func changed(table []byte, at, n int) []byte {
	table = slices.Clone(table)
	binary.BigEndian.PutUint16(table[at:], uint16(n))
	return table
}

// assembled is a TrueType file of tables, with the checksums that it wants (OpenType 1.9,
// font file).
func assembled(tables map[string][]byte) []byte {
	power, log := 1, 0
	for 2*power <= len(tables) {
		power, log = 2*power, log+1
	}
	out := []byte{0, 1, 0, 0}
	for _, n := range []int{len(tables), 16 * power, log, 16 * (len(tables) - power)} {
		out = binary.BigEndian.AppendUint16(out, uint16(n))
	}
	at := 12 + 16*len(tables)
	var body []byte
	head := 0
	binary.BigEndian.PutUint32(tables["head"][8:], 0) // a copy
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		if name == "head" {
			head = at + len(body)
		}
		table := padded(slices.Clone(tables[name]))
		out = append(out, name...)
		out = binary.BigEndian.AppendUint32(out, checksum(table))
		out = binary.BigEndian.AppendUint32(out, uint32(at+len(body)))
		out = binary.BigEndian.AppendUint32(out, uint32(len(tables[name])))
		body = append(body, table...)
	}
	out = append(out, body...)
	binary.BigEndian.PutUint32(out[head+8:], 0xB1B0AFBA-checksum(out))
	return out
}

// checksum adds up the words of a table.
func checksum(table []byte) (sum uint32) {
	for ; len(table) > 0; table = table[4:] {
		sum += binary.BigEndian.Uint32(table)
	}
	return sum
}
