package typeset

// kept is the place from which on everything stays together with what follows.
type kept struct {
	page, ops, jumps, exits, marks, elements int
	y                                        float64
}

// mostKept is how much moves to the next page at most. What is taller may be
// parted: moving it would leave half a page blank.
const mostKept = 260

// Keep begins something that must not stand alone at the foot of a page, a
// heading with its introduction: until Settle, a break takes it along. Within
// something kept it does nothing.
func (d *Paper) Keep() {
	if d.kept == nil {
		d.kept = d.placed()
	}
}

// Settle ends what Keep began: the content after the heading has been drawn.
func (d *Paper) Settle() { d.kept = nil }

// breakPage starts a page and takes along what is kept.
func (d *Paper) breakPage() { d.breakTo(mostKept) }

// breakTo starts a page and takes along what is kept, unless it is taller than most.
func (d *Paper) breakTo(most float64) {
	k, from, bottom := d.kept, d.Page(), d.Y
	d.kept = nil
	d.NewPage()
	if k == nil || k.page != len(d.pages)-1 || bottom-k.y > most || k.y <= d.margin.Top {
		return
	}
	up := k.y - d.margin.Top
	to := d.Page()
	to.ops = append(to.ops, from.ops[k.ops:]...)
	from.ops = from.ops[:k.ops]
	for i := range to.ops {
		to.ops[i].y -= float32(up)
	}
	to.jumps = append(to.jumps, from.jumps[k.jumps:]...)
	from.jumps = from.jumps[:k.jumps]
	for i := range to.jumps {
		to.jumps[i].y -= up
	}
	to.exits = append(to.exits, from.exits[k.exits:]...)
	from.exits = from.exits[:k.exits]
	for i := range to.exits {
		to.exits[i].y -= up
	}
	for i := k.marks; i < len(d.marks); i++ {
		d.marks[i].Page = len(d.pages)
		d.marks[i].Y -= up
	}
	d.Y = bottom - up
}
