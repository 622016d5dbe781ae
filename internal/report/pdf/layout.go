package pdf

import (
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
)

// mostLaidOutAgain is how many pages a document may have that is laid out again: to push
// a line on each of hundreds of pages is not worth their time.
const mostLaidOutAgain = 100

// layOut puts a document on pages, and tries not to end with one that is two thirds empty: it
// lets every page take a little more, so that the rest fits, or leaves a little more to it.
// Layout takes a tenth of the time of painting. If nothing suffices, the fullest last page is
// taken.
func (r *Renderer) layOut(doc snapshot.Document, inputs string) (*builder, error) {
	b, err := newBuilder(r, doc, inputs)
	if err != nil {
		return nil, err
	}
	first, err := b.laidOut(0)
	if err != nil || !first.short() {
		return first, err
	}
	best := first
	for _, more := range first.margins() {
		again, err := b.laidOut(more)
		if err != nil || !again.short() {
			return again, err
		}
		if again.used() > best.used() {
			best = again
		}
	}
	return best, nil
}

// laidOut is the document on paper of its own, whose pages except the first end more points
// above their usual end: page 1 has to be enough by itself, with the contents.
func (b builder) laidOut(more float64) (*builder, error) {
	b.d, b.more = typeset.NewPaper(b.r.fonts, b.doc.Organization.PaperSize, pageMargin), more
	return &b, b.compose()
}

// air is what may be left blank below the last thing on a page.
const air = 24.0

// third is a third of what a page takes, with the air below it.
func (b *builder) third() float64 { return (b.d.Height-pageMargin.Top-pageMargin.Bottom)/3 + air }

// used is how much of the last page is.
func (b *builder) used() float64 { return b.d.Y - pageMargin.Top }

// short says whether the last page is two thirds empty, and others could change that.
func (b *builder) short() bool {
	n := len(b.d.Pages())
	return n > 2 && n <= mostLaidOutAgain && b.used() < b.third()
}

// room is how far text may come down towards the footer.
const room = 9.0

// margins are those worth trying: to take the rest of the last page in, where the room
// suffices, and to fill it from the pages between the first and the last. Rows and
// paragraphs move as a whole, so the exact share may not be enough.
func (b *builder) margins() []float64 {
	between := float64(len(b.d.Pages()) - 2)
	var all []float64
	if b.used() < room*between {
		all = append(all, -room)
	}
	missing := (b.third() - b.used()) / between
	for _, share := range []float64{1.2, 2, 3, 5} {
		all = append(all, min(share*missing+6, b.third()))
	}
	return all
}
