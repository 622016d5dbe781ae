package typeset

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"strconv"
	"unicode/utf16"

	"github.com/jung-kurt/gofpdf"
	"golang.org/x/sync/errgroup"
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
	pdf.SetCompression(false) // output puts the pages in
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
	links := make([]int, len(d.marks))
	for i := range links {
		links[i] = pdf.AddLink()
	}
	for i, m := range d.marks {
		pdf.SetLink(links[i], m.Y, m.Page)
	}
	next := 0
	for i, page := range d.pages {
		pdf.AddPage()
		for _, j := range page.jumps {
			pdf.Link(j.x, j.y, j.w, j.h, links[j.mark])
		}
		for _, e := range page.exits {
			pdf.LinkString(e.x, e.y, e.w, e.h, e.address)
		}
		for ; next < len(d.marks) && d.marks[next].Page == i+1; next++ {
			pdf.Bookmark(bigEndian(d.marks[next].Title), d.marks[next].Level, d.marks[next].Y)
		}
	}
	out := &output{w: w}
	for face, used := range d.runesUsed() {
		if used != nil {
			out.fonts = append(out.fonts, embedded{face: Face(face), font: d.Fonts.face(Face(face)), runes: used.all()})
		}
	}
	var err error
	if out.pages, err = d.contents(); err != nil {
		return fmt.Errorf("compress pages: %w", err)
	}
	if err := pdf.Output(out); err != nil {
		return fmt.Errorf("write PDF: %w", err)
	}
	return nil
}

// bigEndian is text as the outline has it: UTF-16 behind its mark.
func bigEndian(s string) string {
	out := []byte{0xFE, 0xFF}
	for _, unit := range utf16.Encode([]rune(s)) {
		out = append(out, byte(unit>>8), byte(unit))
	}
	return string(out)
}

// runesUsed is what each face prints; nil for a face that prints nothing: a font costs
// time and bytes all the same.
func (d *Paper) runesUsed() [faceCount]*runeSet {
	var used [faceCount]*runeSet
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

// contents are the compressed streams of the pages, made on all cores. The pages are
// released.
func (d *Paper) contents() ([][]byte, error) {
	out := make([][]byte, len(d.pages))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, page := range d.pages {
		d.pages[i] = nil
		group.Go(func() (err error) {
			out[i], err = compressed(page.content(d.Height))
			return err
		})
	}
	return out, group.Wait()
}

// pen writes a page's operators, and of what they stand on only what changes.
type pen struct {
	out          []byte
	height       float64
	face         Face
	size         float32
	fill, stroke Color
	thickness    float32
}

// unset is no colour: a pen has none yet.
const unset Color = 1 << 24

// content is a page in PDF's operators (ISO 32000-1, 8 and 9), measured from the foot of
// the page.
func (p *Page) content(height float64) []byte {
	pen := pen{height: height, face: faceCount, fill: unset, stroke: unset, thickness: -1}
	for i := range p.ops {
		switch o := &p.ops[i]; o.kind {
		case opText:
			pen.text(o)
		case opFill:
			pen.color(&pen.fill, o.color, "rg")
			pen.numbers(float64(o.x), height-float64(o.y), float64(o.w), -float64(o.h))
			pen.op("re f")
		case opRule:
			pen.color(&pen.stroke, o.color, "RG")
			if pen.thickness != o.size {
				pen.thickness = o.size
				pen.numbers(float64(o.size))
				pen.op("w")
			}
			pen.numbers(float64(o.x), height-float64(o.y))
			pen.op("m")
			pen.numbers(float64(o.x+o.w), height-float64(o.y+o.h))
			pen.op("l S")
		}
	}
	return pen.out
}

// text writes runes as they are, in UTF-16: the font's map leads from there to glyphs.
func (p *pen) text(o *op) {
	p.color(&p.fill, o.color, "rg")
	p.out = append(p.out, "BT "...)
	if p.face != o.face || p.size != o.size {
		p.face, p.size = o.face, o.size
		p.out = append(p.out, "/F"...)
		p.out = strconv.AppendInt(p.out, int64(o.face), 10)
		p.out = append(p.out, ' ')
		p.numbers(float64(o.size))
		p.out = append(p.out, "Tf "...)
	}
	p.numbers(float64(o.x), p.height-float64(o.y))
	p.out = append(p.out, "Td ("...)
	for _, r := range o.text {
		for _, b := range [...]byte{byte(r >> 8), byte(r)} {
			switch b {
			case '\r': // would be read as a line feed
				p.out = append(p.out, '\\', 'r')
				continue
			case '(', ')', '\\':
				p.out = append(p.out, '\\')
			}
			p.out = append(p.out, b)
		}
	}
	p.op(") Tj ET")
}

// color sets a colour that is another one than before.
func (p *pen) color(was *Color, is Color, operator string) {
	if *was == is {
		return
	}
	*was = is
	for _, part := range [...]Color{is >> 16, is >> 8, is} {
		p.number(math.Round(float64(part&0xFF)*1000/255), 3)
	}
	p.op(operator)
}

// numbers writes points, to a hundredth.
func (p *pen) numbers(all ...float64) {
	for _, v := range all {
		p.number(math.Round(v*100), 2)
	}
}

// number writes a whole number of hundredths or thousandths.
func (p *pen) number(v float64, digits int) {
	n := int64(v)
	if n < 0 {
		p.out, n = append(p.out, '-'), -n
	}
	one := int64(1)
	for range digits {
		one *= 10
	}
	p.out = strconv.AppendInt(p.out, n/one, 10)
	if rest := n % one; rest != 0 {
		p.out = append(p.out, '.')
		for ; rest != 0; rest = rest * 10 % one {
			p.out = append(p.out, byte('0'+rest*10/one))
		}
	}
	p.out = append(p.out, ' ')
}

func (p *pen) op(operator string) { p.out = append(append(p.out, operator...), '\n') }
