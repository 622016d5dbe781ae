package typeset

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/jung-kurt/gofpdf"
)

// runes is everything that a face prints.
func (f *Fonts) runes(face Face) []rune {
	var out []rune
	for r := rune(1); r < 0xFFFF; r++ {
		if f.has(face, r) {
			out = append(out, r)
		}
	}
	return out
}

func unpacked(t *testing.T, face Face) []byte {
	t.Helper()
	ttf, err := io.ReadAll(brotli.NewReader(bytes.NewReader(files[face].packed)))
	if err != nil {
		t.Fatal(err)
	}
	return ttf
}

// gofpdf makes the same of a font that was cut as of the whole one, to the byte: letters,
// letters composed of two others, and what is drawn by scaling.
func TestACutFontMatchesTheLibrary(t *testing.T) {
	t.Parallel()
	f := fonts(t)
	for _, face := range []Face{Regular, Fallback, Ideographs, Hangul} {
		whole := unpacked(t, face)
		for name, runes := range map[string][]rune{
			"a name": []rune("Acdeghilnrstu"), "composed": []rune("ÄÖÜàåçéñőǅ…½ﬁﬂ"), "one": {'x'}, "spread": []rune(" ~ΑΩЖя→✓ﻼ一、データ가힣"), "all": f.runes(face),
		} {
			if face >= Ideographs && name == "all" {
				// It takes gofpdf a second. Of glyphs that share an advance, which the last
				// ones do, it writes over the font what it reads of it.
				continue
			}
			var has runeSet
			for _, r := range runes {
				if f.has(face, r) {
					has.add(r)
				}
			}
			runes = has.all()
			want := gofpdf.UTF8CutFont(bytes.Clone(whole), string(runes))
			if got := gofpdf.UTF8CutFont(f.face(face).cut(runes), string(runes)); !bytes.Equal(got, want) {
				t.Errorf("%s, %s: %d bytes, of the whole font %d", face.family(), name, len(got), len(want))
			}
		}
	}
}

// A file of another layout, as another gofpdf might write, ends in an error and not in a
// PDF that no reader opens.
func TestAFileOfAnotherLayoutIsRefused(t *testing.T) {
	t.Parallel()
	pdf := gofpdf.New("P", "pt", "A4", "")
	pdf.SetCompression(false)
	pdf.AddPage()
	var file, out bytes.Buffer
	if err := pdf.Output(&file); err != nil {
		t.Fatal(err)
	}
	whole := file.String()
	if _, err := (&output{&out, onePage()}).Write([]byte(whole)); err != nil || !strings.Contains(out.String(), "/Lang (en)") || !strings.Contains(out.String(), "/FlateDecode") {
		t.Errorf("as it is: %v, %.2000q", err, out.String())
	}
	for name, other := range map[string]string{
		"no PDF":          strings.Replace(whole, "%PDF-1.", "%PS-1.", 1),
		"no catalog":      strings.Replace(whole, "/Type /Catalog", "/Type /Catalogue", 1),
		"no table":        strings.Replace(whole, "\nxref\n", "\nxrefs\n", 1),
		"a table cut off": strings.Replace(whole, "trailer\n", "", 1),
		"not of numbers":  strings.Replace(whole, " 00000 n", "x00000 n", 1)[:len(whole)/2],
		"nothing":         "",
	} {
		if _, err := (&output{&out, onePage()}).Write([]byte(other)); !errors.Is(err, errOtherLayout) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The fonts are those whose digests stand in the identity of a renderer.
func TestFontsMatchTheIdentity(t *testing.T) {
	t.Parallel()
	for face := range faceCount {
		if sum := sha256.Sum256(unpacked(t, face)); hex.EncodeToString(sum[:]) != files[face].sha256 {
			t.Errorf("%s: SHA-256 %x", face.family(), sum)
		}
	}
}

// The letters of Chinese, Japanese and Korean are there.
func TestLateFonts(t *testing.T) {
	t.Parallel()
	f := fonts(t)
	for name, block := range map[string]struct {
		first, last rune
		lack        int // rare ones, shown by their numbers
	}{
		"Han": {0x4E00, 0x9FA5, 0}, "extension A": {0x3400, 0x4DB5, 0}, "hiragana": {0x3041, 0x3096, 2}, "katakana": {0x30A1, 0x30FA, 4},
		"Hangul": {0xAC00, 0xD7A3, 0}, "full width": {0xFF01, 0xFF5E, 0}, "punctuation": {0x3001, 0x3011, 3},
	} {
		lack := 0
		for r := block.first; r <= block.last; r++ {
			if !f.printable(r) {
				lack++
			}
		}
		if lack != block.lack {
			t.Errorf("%s: %d letters have no glyph", name, lack)
		}
	}
}

// A document without such letters does not read their fonts.
func TestLateFontsAreNotReadForNothing(t *testing.T) {
	t.Parallel()
	read := ""
	f := Fonts{faces: fonts(t).faces}
	for face := Ideographs; face < faceCount; face++ {
		f.faces[face] = func() *font { read += face.family(); return fonts(t).face(face) }
	}
	paint := func(text string) {
		d := NewPaper(&f, "A4", Margin{50, 50, 50, 50})
		d.Mark(text, 0)
		d.Paragraph(0, 1.3, Span{text, Style{Size: 10}})
		if err := d.Paint(io.Discard, Info{Title: text}); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"Čeština Ελληνικά Русский", "خادم-قاعدة שרת", "rocket 🚀 \U00020000", "\u202e\u00ad\ue000\ufffe\u1103", "• – “” ‹U+0041› ✓"} {
		paint(text)
	}
	if read != "" {
		t.Errorf("read were %s", read)
	}
	if paint("数据库"); !strings.Contains(read, "ideographs") || strings.Contains(read, "hangul") {
		t.Errorf("for Chinese read were %s", read)
	}
}
