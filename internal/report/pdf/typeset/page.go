package typeset

import (
	"net/url"
	"strings"
)

// Align is where text stands in its box.
type Align uint8

// The alignments.
const (
	Left Align = iota
	Right
	Center
)

type opKind uint8

const (
	opText opKind = iota
	opFill
	opRule
)

// op is one thing to draw, in points from the page's top left corner.
type op struct {
	kind       opKind
	face       Face
	size       float32
	color      Color
	x, y, w, h float32 // text: y is the baseline; rule: from x, y by w, h
	element    int32   // of the structure that a text belongs to; 0: none
	text       string
}

// jump is an area that leads to a mark.
type jump struct {
	x, y, w, h float64
	mark       int
}

// exit is an area that leads to an address outside the document.
type exit struct {
	x, y, w, h float64
	address    string
}

// Page collects what is drawn on one page.
type Page struct {
	fonts *Fonts
	tree  *structure
	ops   []op
	jumps []jump
	exits []exit
}

// Fill draws a filled rectangle.
func (p *Page) Fill(x, y, w, h float64, c Color) {
	p.ops = append(p.ops, op{kind: opFill, color: c, x: float32(x), y: float32(y), w: float32(w), h: float32(h)})
}

// Rule draws a line of the given thickness from x, y by w, h.
func (p *Page) Rule(x, y, w, h, thickness float64, c Color) {
	p.ops = append(p.ops, op{kind: opRule, color: c, x: float32(x), y: float32(y), w: float32(w), h: float32(h), size: float32(thickness)})
}

// Text draws one line whose baseline is at y and returns its width. Right and
// Center refer to x as the right edge and the middle.
func (p *Page) Text(x, y float64, s Style, align Align, text string) float64 {
	return p.clean(x, y, s, align, p.fonts.Clean(text))
}

func (p *Page) clean(x, y float64, s Style, align Align, text string) float64 {
	width := p.fonts.Width(s.Face, s.Size, text)
	switch align {
	case Right:
		x -= width
	case Center:
		x -= width / 2
	}
	p.runs(x, y, s, visual(text))
	if address := addressOf(s.Link); address != "" && width > 0 {
		p.exits = append(p.exits, exit{x, y - ascent*s.Size, width, (ascent + descent) * s.Size, address})
	}
	return width
}

// runs draws clean text, changing to the fallback face if needed.
func (p *Page) runs(x, y float64, s Style, text string) {
	start, face, owner := 0, s.Face, int32(p.tree.owner()) //nolint:gosec // there are fewer elements than texts
	flush := func(end int) {
		if end > start {
			p.ops = append(p.ops, op{kind: opText, face: face, size: float32(s.Size), color: s.Color, x: float32(x), y: float32(y), text: text[start:end], element: owner})
			if end < len(text) {
				x += p.fonts.Width(face, s.Size, text[start:end])
			}
			start = end
		}
	}
	if !isPlain(text) || s.Face >= Fallback { // a face of styles has all letters of ASCII
		for at, r := range text {
			if use := p.fonts.resolve(s.Face, r); use != face {
				flush(at)
				face = use
			}
		}
	}
	flush(len(text))
}

// addressOf is an address as a PDF may have it: of the web, in ASCII. Any other, which
// might have a reader run something, leads nowhere.
func addressOf(link string) string {
	if link == "" {
		return ""
	}
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return ""
	}
	address := u.String()
	if strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return address
}

// Link makes an area lead to a mark of the document.
func (p *Page) Link(x, y, w, h float64, mark int) {
	p.jumps = append(p.jumps, jump{x, y, w, h, mark})
}

// Liberation Sans: ascent and descent as shares of the size.
const (
	ascent  = 0.905
	descent = 0.212
)

// Baseline is where text stands in a line of that height that starts at top.
func Baseline(top, lineHeight, size float64) float64 {
	return top + (lineHeight-(ascent+descent)*size)/2 + ascent*size
}
