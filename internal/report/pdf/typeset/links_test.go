package typeset

import "testing"

// Links that a break moves lead to the same target, from their new place.
func TestLinksMoveWithTheirText(t *testing.T) {
	t.Parallel()
	d := NewPaper(fonts(t), "A4", Margin{50, 50, 50, 50})
	d.Y = d.Bottom() - 30
	d.Keep()
	d.Paragraph(0, 1.3, Span{Text: "a heading", Style: Style{Size: 10, Link: "https://example.org/a"}})
	d.Need(100)
	if n := len(d.Pages()[0].exits); n != 0 {
		t.Errorf("%d links stayed behind", n)
	}
	exits := d.Pages()[1].exits
	if len(exits) != 1 || exits[0].address != "https://example.org/a" || exits[0].y < d.margin.Top || exits[0].y > d.margin.Top+10 {
		t.Errorf("links are %+v", exits)
	}
}
