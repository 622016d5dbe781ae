package pades

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
)

// base is what an update has to know of the file that it is appended to.
type base struct {
	file          []byte
	size          int // number of the first object that is not there yet
	root, info    int
	table         int // offset of the cross-reference table
	page          int // number of the last page
	catalog, last []byte
}

// The end of a file of our renderer, and the ends of what the update writes again
// (internal/report/pdf/typeset, output.go; gofpdf 1.16.2).
const (
	endOfFile   = "%%EOF\n"
	endOfObject = "\nendobj\n"
	noFiles     = "/Names <<\n/EmbeddedFiles << /Names [\n  \n] >>\n>>\n>>"
	resources   = "\n/Resources 2 0 R\n"
	entryLength = len("0000000000 00000 n \n")
	mostTail    = 200 // bytes that a trailer takes
)

var (
	tail = regexp.MustCompile(`trailer\n<<\n/Size ([1-9]\d{0,6})\n/Root ([1-9]\d{0,6}) 0 R\n/Info ([1-9]\d{0,6}) 0 R\n>>\nstartxref\n([1-9]\d{0,9})\n%%EOF\n$`)
	kids = regexp.MustCompile(`^1 0 obj\n<</Type /Pages\n/Kids \[(?:[1-9]\d{0,6} 0 R )*([1-9]\d{0,6}) 0 R \]\n`)
)

// readBase finds the catalog and the last page of a file of our renderer. Errors:
// *BaseError.
func readBase(file []byte) (*base, error) {
	from := max(0, len(file)-mostTail)
	m := tail.FindSubmatchIndex(file[from:])
	if m == nil || !bytes.HasPrefix(file, []byte("%PDF-1.")) {
		return nil, &BaseError{Offset: from, Reason: "no trailer of the renderer at its end"}
	}
	number := func(i int) int {
		n, _ := strconv.Atoi(string(file[from+m[2*i] : from+m[2*i+1]])) // ten digits at most
		return n
	}
	b := &base{file: file, size: number(1), root: number(2), info: number(3), table: number(4)}
	head := fmt.Sprintf("xref\n0 %d\n", b.size)
	if b.table+len(head)+b.size*entryLength != from+m[0] || !bytes.HasPrefix(file[b.table:], []byte(head)) {
		return nil, &BaseError{Offset: b.table, Reason: "the table of references does not end where the trailer begins"}
	}
	var err error
	if b.catalog, err = b.object(b.root); err != nil {
		return nil, err
	}
	if !bytes.HasSuffix(b.catalog, []byte(noFiles+endOfObject)) {
		return nil, &BaseError{Offset: b.table, Reason: "the catalog does not end with an empty list of embedded files"}
	}
	pages, err := b.object(1)
	if err != nil {
		return nil, err
	}
	last := kids.FindSubmatch(pages)
	if last == nil {
		return nil, &BaseError{Offset: b.table, Reason: "object 1 is not the list of pages"}
	}
	b.page, _ = strconv.Atoi(string(last[1])) // seven digits at most
	if b.last, err = b.object(b.page); err != nil {
		return nil, err
	}
	if !bytes.Contains(b.last, []byte(resources)) {
		return nil, &BaseError{Offset: b.table, Reason: "the last page has no resources"}
	}
	return b, nil
}

// object is the text of one, with its first and last lines.
func (b *base) object(number int) ([]byte, error) {
	missing := &BaseError{Offset: b.table, Reason: fmt.Sprintf("object %d is not where the table has it", number)}
	if number >= b.size {
		return nil, missing
	}
	entry := b.file[b.table+len(fmt.Sprintf("xref\n0 %d\n", b.size))+number*entryLength:]
	at, err := strconv.Atoi(string(entry[:10]))
	if err != nil || at < 0 || at >= b.table {
		return nil, missing
	}
	text := b.file[at:b.table]
	end := bytes.Index(text, []byte(endOfObject))
	if end < 0 || !bytes.HasPrefix(text, fmt.Appendf(nil, "%d 0 obj\n", number)) {
		return nil, missing
	}
	return text[:end+len(endOfObject)], nil
}
