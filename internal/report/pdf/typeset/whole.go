package typeset

// Whole draws something that stays on one page, with the heading that is kept: if it does not fit below what is there,
// it moves to the next page. The result is false, and nothing was drawn, if it is taller than a page.
func (d *Paper) Whole(draw func()) bool {
	start, from := d.placed(), d.kept
	if from == nil {
		from = start
	}
	d.whole = true
	draw()
	d.whole = false
	page := d.Height - d.margin.Top - d.margin.Bottom
	switch {
	case d.Y <= d.Bottom():
	case d.Y-start.y > page:
		d.undo(start)
		return false
	case d.Y-from.y > page: // with the heading
		d.kept = start
		d.breakTo(page)
	default:
		d.kept = from
		d.breakTo(page)
	}
	d.kept = nil
	return true
}

// Try draws something that stays on one page, if it has room below what is there. If not, it draws nothing, and says
// how tall it is.
func (d *Paper) Try(draw func()) (height float64, fits bool) {
	start, keeping := d.placed(), d.kept
	d.whole = true
	draw()
	d.whole = false
	if d.Y <= d.Bottom() {
		return d.Y - start.y, true
	}
	height = d.Y - start.y
	d.undo(start)
	d.kept = keeping
	return height, false
}

// Within draws between edges that are this far inside of the text's.
func (d *Paper) Within(left, right float64, draw func()) {
	was := d.margin
	d.margin.Left += left
	d.margin.Right += right
	draw()
	d.margin.Left, d.margin.Right = was.Left, was.Right
}

// placed is where the next thing goes.
func (d *Paper) placed() *kept {
	return &kept{page: len(d.pages), ops: len(d.Page().ops), jumps: len(d.Page().jumps), exits: len(d.Page().exits), marks: len(d.marks), elements: len(d.tree.elements), y: d.Y}
}

// undo takes back what was drawn on the page since then.
func (d *Paper) undo(k *kept) {
	page := d.Page()
	d.tree.elements = d.tree.elements[:k.elements]
	page.ops, page.jumps, page.exits, d.marks, d.Y = page.ops[:k.ops], page.jumps[:k.jumps], page.exits[:k.exits], d.marks[:k.marks], k.y
}
