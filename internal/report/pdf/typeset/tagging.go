package typeset

import (
	"bytes"
	"fmt"
	"strconv"
)

// marks are the pieces of the pages that belong to elements.
type marks struct {
	elements []element
	pieces   [][]piece // of each element
	pages    [][]int   // the element of each piece of a page, by its number there
}

// piece is a marked part of a page.
type piece struct{ page, number int }

func newMarks(elements []element) *marks {
	return &marks{elements: elements, pieces: make([][]piece, len(elements))}
}

// begin begins the next page.
func (m *marks) begin() { m.pages = append(m.pages, nil) }

// mark returns the operator that begins a piece of an element on the page; 0: it belongs to none.
func (m *marks) mark(element int) string {
	if element == 0 {
		return "/Artifact BMC"
	}
	page := len(m.pages) - 1
	number := len(m.pages[page])
	m.pages[page] = append(m.pages[page], element)
	m.pieces[element] = append(m.pieces[element], piece{page, number})
	return "/" + m.elements[element].kind + " <</MCID " + strconv.Itoa(number) + ">> BDC"
}

// endOfMark ends a piece.
const endOfMark = "EMC"

// used are the elements that have something: the others are left out.
func (m *marks) used() []bool {
	used := make([]bool, len(m.elements))
	used[0] = true
	for i := len(m.elements) - 1; i > 0; i-- { // a parent stands before its children
		if len(m.pieces[i]) > 0 {
			used[i] = true
		}
		if used[i] {
			used[m.elements[i].parent] = true
		}
	}
	return used
}

// objects are the structure as objects of a PDF, the first of which, the root, has the number first. pages are the
// numbers of the pages' objects.
func (m *marks) objects(first int, pages []int) []object {
	used := m.used()
	numbers := make([]int, len(m.elements))
	next := first + 1
	for i := range m.elements {
		if used[i] {
			numbers[i] = next
			next++
		}
	}
	children := make([][]int, len(m.elements))
	for i, e := range m.elements {
		if i > 0 && used[i] {
			children[e.parent] = append(children[e.parent], numbers[i])
		}
	}
	all := []object{{number: first, text: m.root(first, numbers)}}
	for i, e := range m.elements {
		if !used[i] {
			continue
		}
		parent := first
		if i > 0 {
			parent = numbers[e.parent]
		}
		text := fmt.Appendf(nil, "%d 0 obj\n<</S /%s /P %d 0 R", numbers[i], e.kind, parent)
		if e.kind == GridHead {
			text = append(text, " /A <</O /Table /Scope /Column>>"...)
		}
		text = m.kids(text, m.pieces[i], children[i], pages)
		all = append(all, object{number: numbers[i], text: append(text, ">>\nendobj\n"...)})
	}
	return all
}

// kids appends what an element has: pieces of pages, or other elements.
func (m *marks) kids(text []byte, pieces []piece, children, pages []int) []byte {
	if len(pieces) > 0 {
		text = fmt.Appendf(text, " /Pg %d 0 R", pages[pieces[0].page])
	}
	text = append(text, " /K ["...)
	for _, p := range pieces {
		if p.page == pieces[0].page {
			text = fmt.Appendf(text, "%d ", p.number)
		} else {
			text = fmt.Appendf(text, "<</Type /MCR /Pg %d 0 R /MCID %d>> ", pages[p.page], p.number)
		}
	}
	for _, child := range children {
		text = fmt.Appendf(text, "%d 0 R ", child)
	}
	return append(bytes.TrimRight(text, " "), ']')
}

// root is the root of the structure, with the tree that leads from a page's pieces to their elements.
func (m *marks) root(first int, numbers []int) []byte {
	text := fmt.Appendf(nil, "%d 0 obj\n<</Type /StructTreeRoot /K %d 0 R /ParentTreeNextKey %d /ParentTree <</Nums [", first, numbers[0], len(m.pages))
	for page, elements := range m.pages {
		text = fmt.Appendf(text, "%d [", page)
		for _, e := range elements {
			text = fmt.Appendf(text, "%d 0 R ", numbers[e])
		}
		text = append(bytes.TrimRight(text, " "), "] "...)
	}
	return append(bytes.TrimRight(text, " "), "]>>>>\nendobj\n"...)
}
