package typeset

import (
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// shapes are the contextual forms of one Arabic letter, as Unicode lists them among the
// presentation forms: alone, after a letter that joins, and, of letters that join on
// both sides, before one and between two. 0: it has none.
type shapes [4]rune

const (
	alone = iota
	final
	initial
	medial
)

// arabic is the shapes of every letter, and those of lam with an alef, which are one sign.
type arabic struct {
	letters map[rune]shapes
	lamAlef map[rune]shapes // by the alef
}

const (
	lam     = 'ل'
	kashida = 'ـ' // joins on both sides and looks alike everywhere
)

// forms reads them out of the decompositions of the presentation forms: those of one
// letter follow one another, in the order of shapes.
var forms = sync.OnceValue(func() arabic {
	a := arabic{letters: map[rune]shapes{}, lamAlef: map[rune]shapes{}}
	for _, block := range [][2]rune{{0xFB50, 0xFBFF}, {0xFE80, 0xFEFC}} {
		for r := block[0]; r <= block[1]; {
			letter := norm.NFKC.String(string(r))
			var s shapes
			n := 0
			for r <= block[1] && n < len(s) && norm.NFKC.String(string(r)) == letter {
				s[n] = r
				n, r = n+1, r+1
			}
			switch base := []rune(letter); {
			case n < 2: // it does not join, or is a mark by itself
				r = max(r, s[0]+1)
			case len(base) == 2 && base[0] == lam:
				a.lamAlef[base[1]] = s
			case len(base) == 1 && a.letters[base[0]][final] == 0:
				a.letters[base[0]] = s
			}
		}
	}
	return a
})

// join puts every Arabic letter into the shape that its neighbors give it, because gofpdf
// prints what it is given. It is done before anything is measured: the shapes of a letter
// differ in width. A letter whose shape the fonts lack stays as it is.
func (f *Fonts) join(text []rune) []rune {
	a := forms()
	out := make([]rune, 0, len(text))
	joined := false // the letter before reaches over to this one
	for i := 0; i < len(text); i++ {
		r := text[i]
		if unicode.Is(unicode.Mn, r) { // stands over its letter
			out = append(out, r)
			continue
		}
		s, at := a.letters[r], i
		if r == lam && i+1 < len(text) && a.lamAlef[text[i+1]] != (shapes{}) {
			s, at = a.lamAlef[text[i+1]], i+1
		}
		reaches := (s[initial] != 0 || r == kashida) && a.accepts(following(text, at+1))
		shape := alone
		switch {
		case joined && reaches && s[medial] != 0:
			shape = medial
		case joined:
			shape = final
		case reaches:
			shape = initial
		}
		switch {
		case s[shape] != 0 && f.has(Fallback, s[shape]):
			out = append(out, s[shape])
			i = at
		default:
			out = append(out, r)
			reaches = reaches && r == kashida
		}
		joined = reaches
	}
	return out
}

// accepts says whether a letter joins with the one before it.
func (a arabic) accepts(r rune) bool { return r == kashida || a.letters[r][final] != 0 }

// following is the next letter, whatever marks are in between; 0 if there is none.
func following(text []rune, from int) rune {
	for _, r := range text[from:] {
		if !unicode.Is(unicode.Mn, r) {
			return r
		}
	}
	return 0
}
