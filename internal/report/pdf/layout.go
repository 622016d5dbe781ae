package pdf

import (
	"muster/internal/report/pdf/blocks"
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
func (r *Renderer) layOut(doc snapshot.Document, inputs string) (*blocks.Builder, error) {
	b, err := blocks.New(doc, inputs)
	if err != nil {
		return nil, err
	}
	b.Fonts, b.Version, b.Commit = r.fonts, r.build.Version, r.build.Commit
	b.Paper = typeset.NewPaper(b.Fonts, doc.Organization.PaperSize, blocks.PageMargin)
	first, err := laidOut(b, 0)
	if err != nil || !short(first) {
		return first, err
	}
	best := first
	for _, more := range margins(first) {
		again, err := laidOut(b, more)
		if err != nil {
			return again, err
		}
		longer := len(again.Paper.Pages()) > len(first.Paper.Pages())
		switch {
		case longer && more > 0: // so would it be with the margins that are left, which are wider
			return best, nil
		case longer:
		case !short(again):
			return again, nil
		case used(again) > used(best):
			best = again
		}
	}
	return best, nil
}

// laidOut is the document on paper of its own, whose pages except the first end more points
// above their usual end: page 1 has to be enough by itself, with the contents.
func laidOut(b blocks.Builder, more float64) (*blocks.Builder, error) {
	b.Paper, b.More = b.Paper.Again(blocks.PageMargin), more
	return &b, compose(&b)
}

// air is what may be left blank below the last thing on a page.
const air = 24.0

// third is a third of what a page takes, with the air below it.
func third(b *blocks.Builder) float64 {
	return (b.Paper.Height-blocks.PageMargin.Top-blocks.PageMargin.Bottom)/3 + air
}

// used is how much of the last page is.
func used(b *blocks.Builder) float64 { return b.Paper.Y - blocks.PageMargin.Top }

// short says whether the last page is two thirds empty, and others could change that.
func short(b *blocks.Builder) bool {
	n := len(b.Paper.Pages())
	return n > 2 && n <= mostLaidOutAgain && used(b) < third(b)
}

// room is how far text may come down towards the footer.
const room = 14.0

// margins are those worth trying: to take the rest of the last page in, where the room
// suffices, and to fill it from the pages between the first and the last. Rows and
// paragraphs move as a whole, so the exact share may not be enough.
func margins(b *blocks.Builder) []float64 {
	between := float64(len(b.Paper.Pages()) - 2)
	var all []float64
	if used(b) < room*between {
		all = append(all, -room)
	}
	missing := (third(b) - used(b)) / between
	for _, share := range []float64{1.2, 2, 3, 5} {
		all = append(all, min(share*missing+6, third(b)))
	}
	return all
}
