package typeset

import (
	"strings"
	"testing"
)

// Letters take the shape that their neighbours give them. What is wanted is written by
// hand, by the tables of the presentation forms.
func TestArabicLettersJoin(t *testing.T) {
	t.Parallel()
	f := fonts(t)
	for text, want := range map[string]string{
		"قاعدة":    "\uFED7\uFE8E\uFECB\uFEAA\uFE93", // qaf initial, alef final, ain initial, dal final, the last alone
		"بيت":      "\uFE91\uFEF4\uFE96",             // initial, medial, final
		"دار":      "\uFEA9\uFE8D\uFEAD",             // nothing joins onwards
		"سلام":     "\uFEB3\uFEFC\uFEE1",             // lam and alef are one, after seen
		"لا":       "\uFEFB",                         // and alone
		"الآن":     "\uFE8D\uFEF5\uFEE5",
		"مُحَمَّد": "\uFEE3\u064F\uFEA4\u064E\uFEE4\u064E\u0651\uFEAA", // marks do not part letters
		"پنجگانه":  "\uFB58\uFEE8\uFEA0\uFB95\uFE8E\uFEE7\uFEEA",       // Persian letters, in another block
		"بـت":      "\uFE91ـ\uFE96",
		"ب ت":      "\uFE8F \uFE95", // a space parts
		"ب_ت":      "\uFE8F_\uFE95",
		"بx":       "\uFE8Fx",
		"شركة-1":   "\uFEB7\uFEAE\uFEDB\uFE94-1",
	} {
		if got := f.Clean(text); got != want {
			t.Errorf("%s: %+q, want %+q", text, got, want)
		}
		if again := f.Clean(want); again != want {
			t.Errorf("%s: cleaned again it is %+q", text, again)
		}
	}
	if got := f.Clean("بي\u200dت"); !strings.Contains(got, "‹U+200D›") {
		t.Errorf("what joins unseen is not shown: %q", got)
	}
	if got := visual(f.Clean("بيت")); got != "\uFE96\uFEF4\uFE91" {
		t.Errorf("on paper: %+q", got)
	}
}

// Each letter that joins has its shapes, and the fonts have them.
func TestEveryShapeHasAGlyph(t *testing.T) {
	t.Parallel()
	f, both := fonts(t), 0
	for letter := rune(0x0621); letter <= 0x064A; letter++ {
		s := forms().letters[letter]
		if s[medial] != 0 {
			both++
		}
		for _, shape := range s {
			if shape != 0 && !f.has(Fallback, shape) {
				t.Errorf("%c: no glyph for U+%04X", letter, shape)
			}
		}
	}
	if both != 23 || len(forms().lamAlef) != 4 {
		t.Errorf("%d letters of Arabic join on both sides, want 23; %d alefs follow lam as one sign, want 4", both, len(forms().lamAlef))
	}
}
