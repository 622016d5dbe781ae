package pades

import (
	"bytes"
	"crypto/md5"
	"fmt"
)

// marker is the first line of an update, a comment to every reader of PDF.
const marker = "%muster-signed-1\n"

// FileName is what the embedded proof is called.
const FileName = "proof.json"

// values are what an update says of its own; all else follows from the base. Text is in
// the hexadecimal form of PDF, so that nothing in it can end it.
type values struct {
	proof        []byte
	at           string // digits of a date: 20261123110530
	name, reason string // upper-case hexadecimal digits
	room         int    // bytes that a signature has room for
}

// update is the incremental update with its byte range and room for the signature, whose
// digits are 0. The gap from < to > is what the signature does not cover.
type update struct {
	text     []byte
	ranges   int // where in the text the byte range stands
	from, to int // the gap, in the file
}

// rangesWidth is that of the four numbers of a byte range: they depend on what follows.
const rangesWidth = len("[0 0000000000 0000000000 0000000000]")

// layOut writes the update for a base. It is all there is of the format.
func (b *base) layOut(v values) update {
	file, spec, field, signature := b.size, b.size+1, b.size+2, b.size+3
	w := writer{before: len(b.file), at: map[int]int{}}
	w.WriteString(marker)
	w.object(file, "%d 0 obj\n<</Type /EmbeddedFile /Subtype /application#2Fjson /Params <</Size %d /CheckSum <%x> /ModDate (D:%sZ)>> /Length %[2]d>>\nstream\n%[5]s\nendstream\nendobj\n",
		file, len(v.proof), md5.Sum(v.proof), v.at, v.proof)
	w.object(spec, "%d 0 obj\n<</Type /Filespec /F (%s) /UF (%[2]s) /Desc (How to check this report) /AFRelationship /Data /EF <</F %d 0 R /UF %[3]d 0 R>>>>\nendobj\n",
		spec, FileName, file)
	w.object(b.root, "%s/Names <</EmbeddedFiles <</Names [(%s) %d 0 R]>>>>\n/AF [%[3]d 0 R]\n/AcroForm <</Fields [%d 0 R] /SigFlags 3>>\n/Perms <</DocMDP %d 0 R>>\n>>\nendobj\n",
		bytes.TrimSuffix(b.catalog, []byte(noFiles+endOfObject)), FileName, spec, field, signature)
	head, rest, _ := bytes.Cut(b.last, []byte(resources))
	if annotations, ok := bytes.CutPrefix(rest, []byte("/Annots [")); ok {
		w.object(b.page, "%s%s/Annots [%d 0 R %s", head, resources, field, annotations)
	} else {
		w.object(b.page, "%s%s/Annots [%d 0 R]\n%s", head, resources, field, rest)
	}
	w.object(field, "%d 0 obj\n<</Type /Annot /Subtype /Widget /FT /Sig /T (Muster) /F 132 /Rect [0 0 0 0] /P %d 0 R /V %d 0 R>>\nendobj\n",
		field, b.page, signature)
	w.object(signature, "%d 0 obj\n<</Type /Sig /Filter /Adobe.PPKLite /SubFilter /ETSI.CAdES.detached /M (D:%sZ) /Name <%s> /Reason <%s>\n"+
		"/Reference [<</Type /SigRef /TransformMethod /DocMDP /TransformParams <</Type /TransformParams /P 1 /V /1.2>>>>]\n/ByteRange ",
		signature, v.at, v.name, v.reason)
	u := update{ranges: w.Len()}
	w.printf("%*s\n/Contents ", rangesWidth, "")
	u.from = w.before + w.Len()
	w.printf("<%s>", bytes.Repeat([]byte("0"), 2*v.room))
	u.to = w.before + w.Len()
	w.printf(">>\nendobj\n")
	table := w.before + w.Len()
	w.printf("xref\n")
	for _, number := range []int{b.page, b.root, file, spec, field, signature} {
		w.printf("%d 1\n%010d 00000 n \n", number, w.at[number])
	}
	w.printf("trailer\n<<\n/Size %d\n/Root %d 0 R\n/Info %d 0 R\n/Prev %d\n>>\nstartxref\n%d\n%s", signature+1, b.root, b.info, b.table, table, endOfFile)
	u.text = w.Bytes()
	ranges := fmt.Sprintf("[0 %d %d %d]", u.from, u.to, w.before+w.Len()-u.to)
	copy(u.text[u.ranges:], ranges)
	return u
}

// writer writes objects and remembers where they begin in the file.
type writer struct {
	bytes.Buffer
	before int // length of the base
	at     map[int]int
}

func (w *writer) printf(format string, a ...any) { fmt.Fprintf(w, format, a...) }

func (w *writer) object(number int, format string, a ...any) {
	w.at[number] = w.before + w.Len()
	w.printf(format, a...)
}
