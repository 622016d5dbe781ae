package typeset

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"

	"github.com/andybalholm/brotli"
)

// Face is one of the embedded fonts.
type Face uint8

// The faces. Those behind Mono are chosen by runs, never by a style.
const (
	Regular Face = iota
	Bold
	Mono
	Fallback
	Ideographs // and kana
	Hangul
	faceCount
)

// family is the name under which gofpdf knows a face.
func (f Face) family() string {
	return [...]string{"regular", "bold", "mono", "fallback", "ideographs", "hangul"}[f]
}

// noGlyph marks a rune that a face cannot print.
const noGlyph = math.MaxUint16

// font is the tables of a font file, with the glyph of every rune of the basic plane and
// its advance width in 1/1000 em, rounded as gofpdf rounds it.
type font struct {
	tables map[string][]byte
	glyphs []uint16 // 0: none
	widths []uint16
}

// Fonts are the embedded fonts. They are immutable and may be shared.
type Fonts struct {
	faces  [faceCount]func() *font
	read   [faceCount]atomic.Pointer[font] // nil until it is needed
	digest string
}

// The fonts: those that may be shipped and have the outlines that gofpdf reads (glyf). Their 8 MB
// are carried as 3 MB of Brotli, and none is unpacked before a document has a letter of it, which
// then takes some 10 ms for each megabyte. Their digests are constants for that reason.
var (
	//go:embed liberation/LiberationSans-Regular.ttf.br
	sansRegular []byte
	//go:embed liberation/LiberationSans-Bold.ttf.br
	sansBold []byte
	//go:embed liberation/LiberationMono-Regular.ttf.br
	monoRegular []byte
	//go:embed dejavu/DejaVuSans.ttf.br
	dejavu []byte
	//go:embed droid/DroidSansFallbackFull.ttf.br
	droid []byte
	//go:embed nanum/NanumGothic-Regular.ttf.br
	nanum []byte
)

// files are the fonts of the faces.
var files = [faceCount]struct {
	packed []byte // by Brotli
	sha256 string // of the font
}{
	Regular:    {sansRegular, "597589a852868f782c68e25112bab7785b34bc726f6160dca1519198c6e8c762"},
	Bold:       {sansBold, "cf445da2ab82045d7c8a00a5d9c29a6e90b0579705e28b1f3e02d5b3a0a91ab8"},
	Mono:       {monoRegular, "d63be47c3362b5867b054971c15923bf2e0a865fa7a31c51572b910fb76f7232"},
	Fallback:   {dejavu, "7da195a74c55bef988d0d48f9508bd5d849425c1770dba5d7bfc6ce9ed848954"},
	Ideographs: {droid, "acb6440a713d880a13a21b468ba7cd43f5a2b2934972e51be791c880730777b8"},
	Hangul:     {nanum, "cf050025dcce823de644153981ff8b171d5b78d7d0ddd6e3c9f39e814fad3564"},
}

// LoadFonts returns the embedded fonts, which all documents of a process share. Each is read when
// a document needs it first.
var LoadFonts = sync.OnceValue(func() *Fonts {
	f := &Fonts{}
	sum := sha256.New()
	for i, file := range files {
		f.faces[i] = sync.OnceValue(func() *font {
			read, err := unpack(file.packed)
			if err != nil {
				panic(fmt.Errorf("read font %s: %w", Face(i).family(), err)) // a test reads it
			}
			return &read
		})
		sum.Write([]byte(file.sha256))
	}
	f.digest = hex.EncodeToString(sum.Sum(nil))
	return f
})

// Digest is the SHA-256 over the digests of all fonts, in the order of the faces.
func (f *Fonts) Digest() string { return f.digest }

// face is a face's font.
func (f *Fonts) face(face Face) *font {
	if read := f.read[face].Load(); read != nil {
		return read
	}
	read := f.faces[face]()
	f.read[face].Store(read)
	return read
}

// firstLate is the first letter that has a late face.
const firstLate = 0x2E80

// lateFace is the face of a Chinese, Japanese or Korean letter; Fallback for any other.
// The parts of which Korean syllables can be composed (U+1100) have none: they would stand
// side by side.
func lateFace(r rune) Face {
	switch {
	case r >= 0xAC00 && r <= 0xD7A3, r >= 0x3130 && r <= 0x318F:
		return Hangul
	case r >= firstLate && r <= 0x9FFF, r >= 0xF900 && r <= 0xFAFF, r >= 0xFE30 && r <= 0xFE4F, r >= 0xFF00 && r <= 0xFFEF:
		return Ideographs
	}
	return Fallback
}

// has says whether a face prints a rune.
func (f *Fonts) has(face Face, r rune) bool {
	if r < 0 || r > 0xFFFF || face >= Ideographs && lateFace(r) != face {
		return false
	}
	return f.face(face).widths[r] != noGlyph
}

// printable says whether a rune has a glyph whatever face a style asks for.
func (f *Fonts) printable(r rune) bool {
	return f.has(Fallback, r) || f.has(Regular, r) && f.has(Bold, r) && f.has(Mono, r) || f.has(lateFace(r), r)
}

// resolve returns the face that prints a rune where a style asks for want.
func (f *Fonts) resolve(want Face, r rune) Face {
	switch late := lateFace(r); {
	case f.has(want, r):
		return want
	case late != Fallback && !f.has(Fallback, r) && f.has(late, r):
		return late
	}
	return Fallback
}

// Width is the width of clean text in points.
func (f *Fonts) Width(face Face, size float64, s string) float64 {
	units := 0
	widths := f.face(face).widths
	for _, r := range s {
		if r <= '~' && widths[r] != noGlyph {
			units += int(widths[r])
		} else {
			units += f.advance(face, r)
		}
	}
	return float64(units) * size / 1000
}

func (f *Fonts) advance(want Face, r rune) int {
	w := f.face(f.resolve(want, r)).widths[r&0xFFFF]
	if w == noGlyph {
		return 0
	}
	return int(w)
}

// unpack reads a font that is carried packed.
func unpack(packed []byte) (font, error) {
	ttf, err := io.ReadAll(brotli.NewReader(bytes.NewReader(packed)))
	if err != nil {
		return font{}, err
	}
	return parse(ttf)
}

// parse reads the tables cmap (format 4), hmtx, hhea and head of a TrueType font: see the
// OpenType specification 1.9, chapters of those names.
func parse(ttf []byte) (f font, err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("truncated font file of %d bytes", len(ttf))
		}
	}()
	f.tables = map[string][]byte{}
	for i := range int(binary.BigEndian.Uint16(ttf[4:])) {
		record := ttf[12+16*i:]
		offset := binary.BigEndian.Uint32(record[8:])
		f.tables[string(record[:4])] = ttf[offset : offset+binary.BigEndian.Uint32(record[12:])]
	}
	scale := 1000 / float64(binary.BigEndian.Uint16(f.tables["head"][18:]))
	if f.glyphs, err = runesToGlyphs(f.tables["cmap"]); err != nil {
		return font{}, err
	}
	f.widths = make([]uint16, 1<<16)
	for r, glyph := range f.glyphs {
		if glyph == 0 {
			f.widths[r] = noGlyph
			continue
		}
		advance, _ := f.metrics(glyph)
		f.widths[r] = uint16(math.Round(float64(advance) * scale))
	}
	return f, nil
}

// runesToGlyphs returns the glyph of every rune of the basic plane, 0 for none.
func runesToGlyphs(cmap []byte) ([]uint16, error) {
	u16 := func(b []byte, at int) int { return int(binary.BigEndian.Uint16(b[at:])) }
	for i := range u16(cmap, 2) {
		record := cmap[4+8*i:]
		sub := cmap[binary.BigEndian.Uint32(record[4:]):]
		platform, encoding := u16(record, 0), u16(record, 2)
		if u16(sub, 0) != 4 || platform != 0 && (platform != 3 || encoding != 1) {
			continue
		}
		glyphs := make([]uint16, 1<<16)
		segments := u16(sub, 6)
		ends, starts := sub[14:], sub[16+segments:]
		deltas, offsets := sub[16+2*segments:], sub[16+3*segments:]
		for s := 0; s < segments; s += 2 {
			for r := u16(starts, s); r <= u16(ends, s) && r != 0xFFFF; r++ {
				glyph := r
				if at := u16(offsets, s); at != 0 {
					if glyph = u16(offsets, s+at+2*(r-u16(starts, s))); glyph == 0 {
						continue
					}
				}
				glyphs[r] = uint16(glyph + u16(deltas, s))
			}
		}
		return glyphs, nil
	}
	return nil, fmt.Errorf("no Unicode character map of format 4")
}
