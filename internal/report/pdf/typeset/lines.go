package typeset

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Color is 0xRRGGBB.
type Color uint32

// Style is how text looks.
type Style struct {
	Face  Face
	Size  float64 // points
	Color Color
	Link  string // an address that the text leads to; empty: none
}

// Span is text in one style.
type Span struct {
	Text  string
	Style Style
}

// line is what fits into the width, in pieces of one style.
type line struct {
	pieces []Span
	width  float64
}

// atom is text that is only broken if it is wider than a line by itself.
type atom struct {
	span  Span
	width float64
	space bool // a space stands before it
	feed  bool // a line break stands before it
	open  bool // a line may end before it, although no space does
}

// wrap breaks spans into lines no wider than width. Words stay whole where
// they fit a line; longer ones break after punctuation, and where even that
// does not fit, between runes.
func (f *Fonts) wrap(spans []Span, width float64) []line {
	w := wrapper{fonts: f, width: width}
	atoms := f.atoms(spans)
	for start := 0; start < len(atoms); {
		end := start + 1
		for end < len(atoms) && !atoms[end].space && !atoms[end].feed && !atoms[end].open {
			end++
		}
		w.word(atoms[start:end])
		start = end
	}
	w.feed()
	return w.lines
}

type wrapper struct {
	fonts *Fonts
	width float64
	lines []line
	cur   line
}

func (w *wrapper) feed() {
	w.lines = append(w.lines, w.cur)
	w.cur = line{}
}

func (w *wrapper) word(atoms []atom) {
	if atoms[0].feed {
		w.feed()
	}
	total := 0.0
	for _, a := range atoms {
		total += a.width
	}
	if atoms[0].space && len(w.cur.pieces) > 0 {
		style := w.cur.pieces[len(w.cur.pieces)-1].Style
		gap := w.fonts.Width(style.Face, style.Size, " ")
		if w.cur.width+gap+total <= w.width || total > w.width && w.cur.width+gap+atoms[0].width <= w.width {
			w.put(Span{" ", style}, gap)
		} else {
			w.feed()
		}
	} else if len(w.cur.pieces) > 0 && w.cur.width+total > w.width && total <= w.width {
		w.feed()
	}
	for _, a := range atoms {
		if w.cur.width+a.width > w.width && len(w.cur.pieces) > 0 {
			w.feed()
		}
		if a.width <= w.width {
			w.put(a.span, a.width)
		} else {
			w.runes(a.span)
		}
	}
}

// runes places text that is wider than a line.
func (w *wrapper) runes(s Span) {
	start, width := 0, 0.0
	for at, r := range s.Text {
		advance := float64(w.fonts.advance(s.Style.Face, r)) * s.Style.Size / 1000
		if w.cur.width+width+advance > w.width && at > start {
			w.put(Span{s.Text[start:at], s.Style}, width)
			w.feed()
			start, width = at, 0
		}
		width += advance
	}
	w.put(Span{s.Text[start:], s.Style}, width)
}

func (w *wrapper) put(s Span, width float64) {
	w.cur.width += width
	if last := len(w.cur.pieces) - 1; last >= 0 && w.cur.pieces[last].Style == s.Style {
		w.cur.pieces[last].Text += s.Text
		return
	}
	w.cur.pieces = append(w.cur.pieces, s)
}

// atoms cuts cleaned spans at spaces, line breaks and break points.
func (f *Fonts) atoms(spans []Span) []atom {
	var out []atom
	space, feed, open := false, false, false
	before := rune(0)
	for _, s := range spans {
		text := s.Text
		start := 0
		flush := func(end int) {
			if end > start {
				part := Span{text[start:end], s.Style}
				out = append(out, atom{part, f.Width(s.Style.Face, s.Style.Size, part.Text), space, feed, open})
				space, feed, open = false, false, false
			}
		}
		for at, r := range text {
			size := utf8.RuneLen(r)
			switch {
			case r == '\n':
				flush(at)
				if feed { // an empty line stays one
					out = append(out, atom{span: Span{"", s.Style}, feed: true})
				}
				start, feed, space = at+1, true, false
			case r == ' ':
				flush(at)
				start, space = at+1, true
			case breakBetween(before, r):
				flush(at)
				start, open = at, true
			}
			if breakAfter(r, text[at+size:]) {
				flush(at + size)
				start = at + size
			}
			before = r
		}
		flush(len(text))
	}
	return out
}

// breakAfter says whether a name may be broken behind r. Numbers, versions and
// dates are left whole where possible.
func breakAfter(r rune, rest string) bool {
	if rest == "" {
		return false
	}
	switch r {
	case '_', '/', '\\', '@', '=', ';', '›':
		return true
	case '.', '-', ',', ':':
		return rest[0] < '0' || rest[0] > '9'
	default:
		return false
	}
}

// breakBetween says whether a line may end between two runes that no space parts: beside
// an ideograph, a kana or a Korean syllable, but not before what closes or behind what
// opens (Unicode's line breaking, UAX 14: ID, CL, NS and OP, the common ones).
func breakBetween(a, b rune) bool {
	if a < firstLate && b < firstLate || a < ' ' || !isIdeographic(a) && !isIdeographic(b) || a == ' ' || b == ' ' {
		return false
	}
	return !strings.ContainsRune("([{「『（【《〈〔［｛‹", a) && !strings.ContainsRune(")]},.:;!?、。，．：；！？」』）】》〉〕］｝・ー々ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ›…†", b)
}

func isIdeographic(r rune) bool { return lateFace(r) != Fallback }

// limit keeps at most n lines and says in the last of them how much follows.
func (f *Fonts) limit(lines []line, n int, width float64) []line {
	if len(lines) <= n {
		return lines
	}
	hidden, style := 0, Style{Size: 8}
	for _, l := range lines[n-1:] {
		for _, p := range l.pieces {
			hidden += utf8.RuneCountInString(p.Text)
			style = p.Style
		}
	}
	note := f.wrap([]Span{{"… " + Thousands(hidden) + " more characters", style}}, width)
	return append(lines[:n-1:n-1], note...)
}

// Thousands writes a number with separators, 31204 as "31,204".
func Thousands[N int | int64](n N) string {
	if n < 0 {
		return "-" + Thousands(-n)
	}
	if n < 1000 {
		return strconv.FormatInt(int64(n), 10)
	}
	tail := strconv.FormatInt(int64(n%1000), 10)
	return Thousands(n/1000) + "," + strings.Repeat("0", 3-len(tail)) + tail
}
