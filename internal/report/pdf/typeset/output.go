package typeset

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	"muster/internal/concurrency/supervise"
)

// catalogEntries are what gofpdf has no call for. It writes the packet in front of the
// dictionary of information and that in front of the catalog, which is the last object:
// %d is the packet's number.
const catalogEntries = "/Lang (" + language + ")\n/Metadata %d 0 R\n/MarkInfo << /Marked true >>\n/StructTreeRoot %d 0 R\n/ViewerPreferences << /DisplayDocTitle true >>\n"

// version is that of PDF which has all that is written: gofpdf says 1.3 of itself, and
// language and packet are of 1.4.
const version = "%PDF-1.7"

// output finishes a PDF on its way to w: it gives the catalog its entries and compresses
// the pages. gofpdf compresses them one by one with a compressor of 650 kB each, which is
// most of the memory that a document takes; here all cores do, and each has one.
// gofpdf hands its whole buffer over in one piece.
type output struct {
	w     io.Writer
	marks *marks
}

var errOtherLayout = errors.New("the file is not laid out as gofpdf 1.16.2 does")

func (o *output) Write(p []byte) (int, error) {
	objects, trailer, err := objectsOf(p)
	if err != nil {
		return 0, err
	}
	catalog := &objects[len(objects)-1]
	const head = "\n<<\n/Type /Catalog\n"
	at := bytes.Index(catalog.text, []byte(head))
	if at < 0 || catalog.number != len(objects) {
		return 0, errOtherLayout
	}
	catalog.text = slices.Concat(catalog.text[:at+len(head)], fmt.Appendf(nil, catalogEntries, catalog.number-2, len(objects)+1), catalog.text[at+len(head):])
	pages, err := taggedPages(objects)
	if err != nil || len(pages) != len(o.marks.pages) {
		return 0, errOtherLayout
	}
	if err := compressAll(objects); err != nil {
		return 0, err
	}
	objects = append(objects, o.marks.objects(len(objects)+1, pages)...)
	w := counted{w: o.w}
	w.write([]byte(version), p[len(version):objects[0].at])
	offsets := make([]int, len(objects)+1)
	for _, object := range objects {
		offsets[object.number] = w.n
		w.write(object.text)
	}
	table := fmt.Appendf(nil, "xref\n0 %d\n%010d 65535 f \n", len(offsets), 0)
	for _, offset := range offsets[1:] {
		digits := strconv.Itoa(offset)
		table = append(table, "0000000000"[:10-len(digits)]...)
		table = append(append(table, digits...), " 00000 n \n"...)
	}
	if trailer, err = sized(trailer, len(offsets)); err != nil {
		return 0, err
	}
	start := w.n
	w.write(table, trailer, fmt.Appendf(nil, "startxref\n%d\n%%%%EOF\n", start))
	return len(p), w.err
}

// taggedPages gives the pages, in their order, the keys that lead to their structure. It returns their numbers.
func taggedPages(objects []object) (numbers []int, err error) {
	for i := range objects {
		o := &objects[i]
		head := fmt.Appendf(nil, "%d 0 obj\n<</Type /Page\n", o.number)
		if !bytes.HasPrefix(o.text, head) {
			continue
		}
		o.text = slices.Concat(head, fmt.Appendf(nil, "/StructParents %d\n/Tabs /S\n", len(numbers)), o.text[len(head):])
		numbers = append(numbers, o.number)
	}
	if !slices.IsSorted(numbers) {
		return nil, errOtherLayout
	}
	return numbers, nil
}

// sized says in a trailer how many objects there are.
func sized(trailer []byte, n int) ([]byte, error) {
	const head = "trailer\n<<\n/Size "
	rest, ok := bytes.CutPrefix(trailer, []byte(head))
	end := bytes.IndexByte(rest, '\n')
	if !ok || end < 0 {
		return nil, errOtherLayout
	}
	return slices.Concat([]byte(head), strconv.AppendInt(nil, int64(n), 10), rest[end:]), nil
}

// object is one of a PDF, from its number to its end.
type object struct {
	number, at int
	text       []byte
}

// objectsOf takes a PDF apart by its table of references: the objects in the order of the
// file, and the trailer's dictionary.
func objectsOf(p []byte) (all []object, trailer []byte, err error) {
	const foot, entry = "startxref\n", len("0000000000 00000 n \n")
	if !bytes.HasPrefix(p, []byte("%PDF-1.")) {
		return nil, nil, errOtherLayout
	}
	end := bytes.LastIndex(p, []byte(foot))
	if end < 0 {
		return nil, nil, errOtherLayout
	}
	start, _, _ := bytes.Cut(p[end+len(foot):], []byte("\n"))
	table, err := strconv.Atoi(string(start))
	if err != nil || table > end || !bytes.HasPrefix(p[table:], []byte("xref\n0 ")) {
		return nil, nil, errOtherLayout
	}
	size, rows, _ := bytes.Cut(p[table+len("xref\n0 "):end], []byte("\n"))
	n, err := strconv.Atoi(string(size))
	if err != nil || n < 2 || len(rows) < n*entry || !bytes.HasPrefix(rows[n*entry:], []byte("trailer\n")) {
		return nil, nil, errOtherLayout
	}
	for number := 1; number < n; number++ {
		at, err := strconv.Atoi(string(rows[number*entry : number*entry+10]))
		if err != nil || at > table {
			return nil, nil, errOtherLayout
		}
		all = append(all, object{number: number, at: at})
	}
	slices.SortFunc(all, func(a, b object) int { return a.at - b.at })
	for i := range all {
		next := table
		if i+1 < len(all) {
			next = all[i+1].at
		}
		all[i].text = p[all[i].at:next]
	}
	return all, rows[n*entry:], nil
}

// compressors are reused: creating one takes longer than compressing a page.
var compressors = sync.Pool{New: func() any {
	w, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed) // the level is one
	return w
}}

// compressAll compresses the streams that have no filter, at the same time.
func compressAll(objects []object) error {
	var group supervise.Group
	group.SetLimit(supervise.Processors())
	for i := range objects {
		if o := &objects[i]; bytes.HasPrefix(o.text, fmt.Appendf(nil, "%d 0 obj\n<</Length ", o.number)) {
			group.Go(o.compress)
		}
	}
	return group.Wait()
}

// compress compresses an object's stream, if its dictionary says nothing but its length.
func (o *object) compress() error {
	head, rest, ok := bytes.Cut(o.text, []byte(">>\nstream\n"))
	_, length, _ := bytes.Cut(head, []byte("<</Length "))
	n, err := strconv.Atoi(string(length))
	if err != nil || !ok { // another dictionary
		return nil
	}
	if n > len(rest) {
		return errOtherLayout
	}
	var out bytes.Buffer
	w := compressors.Get().(*zlib.Writer)
	defer compressors.Put(w)
	w.Reset(&out)
	if _, err := w.Write(rest[:n]); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	o.text = slices.Concat(fmt.Appendf(nil, "%d 0 obj\n<</Filter /FlateDecode /Length %d>>\nstream\n", o.number, out.Len()), out.Bytes(), rest[n:])
	return nil
}

// counted counts what it writes, and writes nothing after an error.
type counted struct {
	w   io.Writer
	n   int
	err error
}

func (c *counted) write(parts ...[]byte) {
	for _, part := range parts {
		if c.err == nil {
			_, c.err = c.w.Write(part)
			c.n += len(part)
		}
	}
}
