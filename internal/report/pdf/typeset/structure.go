package typeset

// The kinds of elements of a document's structure that this package tags (ISO 32000-1, 14.8.4).
const (
	Document  = "Document"
	Title     = "H1"
	Section   = "H2"
	Part      = "H3"
	Text      = "P"
	Grid      = "Table"
	GridRow   = "TR"
	GridHead  = "TH"
	GridCell  = "TD"
	Contained = "Div"
)

// element is a part of the structure. What is drawn while it is open belongs to it.
type element struct {
	kind   string
	parent int // in Paper.elements
}

// structure is what has been opened: elements[0] is the document.
type structure struct {
	elements []element
	parent   int    // of what is opened next
	leaf     int    // that text belongs to; 0: each text is an element of its own
	kind     string // of such an element
	artifact bool   // text belongs to no element
}

func newStructure() structure { return structure{elements: []element{{kind: Document}}, kind: Text} }

func (s *structure) open(kind string) int {
	s.elements = append(s.elements, element{kind, s.parent})
	return len(s.elements) - 1
}

// Tagged draws an element with text: a heading, a paragraph, or a cell. Within another one it draws a part of that.
func (d *Paper) Tagged(kind string, draw func()) {
	if d.tree.leaf != 0 || d.tree.artifact {
		draw()
		return
	}
	d.tree.leaf = d.tree.open(kind)
	draw()
	d.tree.leaf = 0
}

// Grouped draws an element that contains others: a table, a row. Text in it that is no element yet becomes one of the
// kind each.
func (d *Paper) Grouped(kind, each string, draw func()) {
	d.Under(d.Place(kind), each, draw)
}

// Place keeps a place in the structure for what is drawn later, Under it.
func (d *Paper) Place(kind string) int { return d.tree.open(kind) }

// Under draws what belongs to an element that Place opened.
func (d *Paper) Under(place int, each string, draw func()) {
	parent, leaf, kind := d.tree.parent, d.tree.leaf, d.tree.kind
	d.tree.parent, d.tree.leaf, d.tree.kind = place, 0, each
	draw()
	d.tree.parent, d.tree.leaf, d.tree.kind = parent, leaf, kind
}

// Artifact draws what is no part of the text: running heads and feet.
func (d *Paper) Artifact(draw func()) {
	was := d.tree.artifact
	d.tree.artifact = true
	draw()
	d.tree.artifact = was
}

// owner is the element that a text belongs to; 0: none.
func (s *structure) owner() int {
	switch {
	case s.artifact:
		return 0
	case s.leaf != 0:
		return s.leaf
	}
	return s.open(s.kind)
}
