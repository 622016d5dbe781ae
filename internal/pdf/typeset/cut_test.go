package typeset

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/go-fonts/dejavu/dejavusans"
	"github.com/go-fonts/liberation/liberationsansregular"
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

// gofpdf makes the same of a font that was cut as of the whole one, to the byte: letters,
// letters composed of two others, and what is drawn by scaling.
func TestACutFontIsWhatTheLibraryCuts(t *testing.T) {
	t.Parallel()
	f := fonts(t)
	for face, whole := range map[Face][]byte{Regular: liberationsansregular.TTF, Fallback: dejavusans.TTF} {
		for name, runes := range map[string][]rune{
			"a name": []rune("Acdeghilnrstu"), "composed": []rune("ÄÖÜàåçéñőǅ…½ﬁﬂ"), "one": {'x'}, "spread": []rune(" ~ΑΩЖя→✓ﻼ"), "all": f.runes(face),
		} {
			var has runeSet
			for _, r := range runes {
				if f.has(face, r) {
					has.add(r)
				}
			}
			runes = has.all()
			want := gofpdf.UTF8CutFont(bytes.Clone(whole), string(runes))
			if got := gofpdf.UTF8CutFont(f.faces[face].cut(runes), string(runes)); !bytes.Equal(got, want) {
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
	if _, err := (&output{&out}).Write([]byte(whole)); err != nil || !strings.Contains(out.String(), "/Lang (en)") || !strings.Contains(out.String(), "/FlateDecode") {
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
		if _, err := (&output{&out}).Write([]byte(other)); !errors.Is(err, errOtherLayout) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
