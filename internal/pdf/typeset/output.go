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
)

// catalogEntries are what gofpdf has no call for. It writes the packet in front of the
// dictionary of information and that in front of the catalog, which is the last object:
// %d is the packet's number.
const catalogEntries = "/Lang (" + language + ")\n/Metadata %d 0 R\n/ViewerPreferences << /DisplayDocTitle true >>\n"

// version is that of PDF which has all that is written: gofpdf says 1.3 of itself, and
// language and packet are of 1.4.
const version = "%PDF-1.7"

// output finishes a PDF on its way to w: it gives the catalog its entries, puts in the
// pages, which gofpdf has left empty, and adds the fonts. gofpdf hands its whole buffer
// over in one piece.
type output struct {
	w     io.Writer
	pages [][]byte // compressed streams
	fonts []embedded
}

var errOtherLayout = errors.New("the file is not laid out as gofpdf 1.16.2 does")

func (o *output) Write(p []byte) (int, error) {
	objects, trailer, err := objectsOf(p)
	if err != nil {
		return 0, err
	}
	if err := o.complete(objects); err != nil {
		return 0, err
	}
	last := len(objects) // the catalog's number
	var named []byte
	for _, font := range o.fonts {
		named = fmt.Appendf(named, "/F%d %d 0 R\n", font.face, len(objects)+1)
		more, err := font.objects(len(objects) + 1)
		if err != nil {
			return 0, fmt.Errorf("embed font %s: %w", font.face.family(), err)
		}
		objects = append(objects, more...)
	}
	resources := slices.IndexFunc(objects, func(o object) bool { return o.number == 2 })
	if err := objects[resources].insert("\n/Font <<\n", named); err != nil {
		return 0, err
	}
	// The trailer counts the objects, the free one too.
	trailer = bytes.Replace(trailer, fmt.Appendf(nil, "/Size %d\n", last+1), fmt.Appendf(nil, "/Size %d\n", len(objects)+1), 1)
	w := counted{w: o.w}
	w.write([]byte(version), p[len(version):objects[0].at])
	offsets := make([]int, len(objects)+1)
	for _, object := range objects {
		offsets[object.number] = w.n
		w.write(object.text)
	}
	table := fmt.Appendf(nil, "xref\n0 %d\n%010d 65535 f \n", len(offsets), 0)
	for _, offset := range offsets[1:] {
		table = fmt.Appendf(table, "%010d 00000 n \n", offset)
	}
	start := w.n
	w.write(table, trailer, fmt.Appendf(nil, "startxref\n%d\n%%%%EOF\n", start))
	return len(p), w.err
}

// complete gives the catalog its entries and the pages their streams.
func (o *output) complete(objects []object) error {
	catalog := &objects[len(objects)-1]
	if catalog.number != len(objects) {
		return errOtherLayout
	}
	if err := catalog.insert("\n<<\n/Type /Catalog\n", fmt.Appendf(nil, catalogEntries, catalog.number-2)); err != nil {
		return err
	}
	page := 0
	for i := range objects {
		if !bytes.HasPrefix(objects[i].text, fmt.Appendf(nil, "%d 0 obj\n<</Length ", objects[i].number)) {
			continue
		}
		if page == len(o.pages) {
			return errOtherLayout
		}
		objects[i] = stream(objects[i].number, "", o.pages[page])
		page++
	}
	if page != len(o.pages) {
		return errOtherLayout
	}
	return nil
}

// object is one of a PDF, from its number to its end.
type object struct {
	number, at int
	text       []byte
}

// insert puts more into an object, behind what is said to be in it.
func (o *object) insert(behind string, more []byte) error {
	at := bytes.Index(o.text, []byte(behind))
	if at < 0 {
		return errOtherLayout
	}
	at += len(behind)
	o.text = slices.Concat(o.text[:at], more, o.text[at:])
	return nil
}

// stream is an object of compressed bytes.
func stream(number int, entries string, packed []byte) object {
	return object{number: number, text: slices.Concat(
		fmt.Appendf(nil, "%d 0 obj\n<</Filter /FlateDecode /Length %d%s>>\nstream\n", number, len(packed), entries), packed, []byte("\nendstream\nendobj\n"))}
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
	if err != nil || n < 3 || len(rows) < n*entry || !bytes.HasPrefix(rows[n*entry:], fmt.Appendf(nil, "trailer\n<<\n/Size %d\n", n)) {
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

// compressors are kept: one takes 650 kB, and more time to make than a page to compress.
var compressors = sync.Pool{New: func() any {
	w, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed) // the level is one
	return w
}}

func compressed(plain []byte) ([]byte, error) {
	var out bytes.Buffer
	w := compressors.Get().(*zlib.Writer)
	defer compressors.Put(w)
	w.Reset(&out)
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
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
