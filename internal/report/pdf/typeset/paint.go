package typeset

import (
	"fmt"
	"io"

	"github.com/jung-kurt/gofpdf"
)

const producer = "gofpdf 1.16.2"

// Paint writes the document as a PDF: the same bytes for the same document.
// It consumes the document.
func (d *Paper) Paint(w io.Writer, info Info) error {
	pdf := gofpdf.NewCustom(&gofpdf.InitType{
		OrientationStr: "P", UnitStr: "pt",
		Size: gofpdf.SizeType{Wd: d.Width, Ht: d.Height},
	})
	pdf.SetCatalogSort(true)
	pdf.SetCompression(false) // output compresses
	pdf.SetCreationDate(info.Created.UTC())
	pdf.SetModificationDate(info.Created.UTC())
	pdf.SetMargins(0, 0, 0)
	pdf.SetAutoPageBreak(false, 0)
	pdf.SetTitle(d.Fonts.Clean(info.Title), true)
	pdf.SetAuthor(d.Fonts.Clean(info.Author), true)
	pdf.SetSubject(d.Fonts.Clean(info.Subject), true)
	pdf.SetKeywords(d.Fonts.Clean(info.Keywords), true)
	pdf.SetCreator(d.Fonts.Clean(info.Creator), true)
	pdf.SetProducer(producer, true)
	pdf.SetXmpMetadata(d.packet(info))
	for face, used := range d.runesUsed() {
		if used != nil {
			pdf.AddUTF8FontFromBytes(Face(face).family(), "", d.Fonts.face(Face(face)).cut(used.all()))
		}
	}
	p := painter{pdf: pdf, marks: newMarks(d.tree.elements), face: faceCount, text: unset, fill: unset, draw: unset, thickness: -1}
	for range d.marks {
		p.links = append(p.links, pdf.AddLink())
	}
	for i, m := range d.marks {
		pdf.SetLink(p.links[i], m.Y, m.Page)
	}
	next := 0
	for i, page := range d.pages {
		pdf.AddPage()
		p.page(page)
		for ; next < len(d.marks) && d.marks[next].Page == i+1; next++ {
			p.font(Regular, 9)
			pdf.Bookmark(d.marks[next].Title, d.marks[next].Level, d.marks[next].Y)
		}
		d.pages[i] = nil // gofpdf has its own copy now
	}
	if err := pdf.Output(&output{w, p.marks}); err != nil {
		return fmt.Errorf("write PDF: %w", err)
	}
	return nil
}

// runesUsed is what each face prints; nil for a face that prints nothing: a font costs
// time and bytes all the same. Bookmarks name the regular one.
func (d *Paper) runesUsed() [faceCount]*runeSet {
	used := [faceCount]*runeSet{Regular: {}}
	for _, page := range d.pages {
		for i := range page.ops {
			if o := &page.ops[i]; o.kind == opText {
				if used[o.face] == nil {
					used[o.face] = &runeSet{}
				}
				for _, r := range o.text {
					used[o.face].add(r)
				}
			}
		}
	}
	return used
}

// painter sends operations to gofpdf and only the changes of its state.
type painter struct {
	pdf   *gofpdf.Fpdf
	marks *marks
	links []int

	face             Face
	size             float32
	text, fill, draw Color
	thickness        float32
}

// unset is no colour: a painter has not set any yet.
const unset Color = 1 << 24

func (p *painter) page(page *Page) {
	p.marks.begin()
	open := int32(-1)
	for _, o := range page.ops {
		if o.element != open {
			if open >= 0 {
				p.pdf.RawWriteStr(endOfMark)
			}
			open = o.element
			p.pdf.RawWriteStr(p.marks.mark(int(open)))
		}
		switch o.kind {
		case opText:
			p.font(o.face, o.size)
			change(&p.text, o.color, p.pdf.SetTextColor)
			p.pdf.Text(float64(o.x), float64(o.y), o.text)
		case opFill:
			change(&p.fill, o.color, p.pdf.SetFillColor)
			p.pdf.Rect(float64(o.x), float64(o.y), float64(o.w), float64(o.h), "F")
		case opRule:
			change(&p.draw, o.color, p.pdf.SetDrawColor)
			if p.thickness != o.size {
				p.pdf.SetLineWidth(float64(o.size))
				p.thickness = o.size
			}
			p.pdf.Line(float64(o.x), float64(o.y), float64(o.x+o.w), float64(o.y+o.h))
		}
	}
	if open >= 0 {
		p.pdf.RawWriteStr(endOfMark)
	}
	for _, j := range page.jumps {
		p.pdf.Link(j.x, j.y, j.w, j.h, p.links[j.mark])
	}
	for _, e := range page.exits {
		p.pdf.LinkString(e.x, e.y, e.w, e.h, e.address)
	}
}

func (p *painter) font(face Face, size float32) {
	if p.face != face || p.size != size {
		p.pdf.SetFont(face.family(), "", float64(size))
		p.face, p.size = face, size
	}
}

// change sets a colour that is another one than before.
func change(was *Color, is Color, set func(r, g, b int)) {
	if *was != is {
		set(int(is>>16&0xFF), int(is>>8&0xFF), int(is&0xFF))
		*was = is
	}
}
