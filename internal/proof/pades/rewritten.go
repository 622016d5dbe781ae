package pades

import (
	"bytes"
	"fmt"
	"regexp"
)

// mostBefore is how far into a file readers of PDF look for its beginning.
const mostBefore = 1024

var (
	// printed is the end of the keywords in the XMP of each report: the log's head.
	printed     = regexp.MustCompile(` witness:[a-z]+:\d+:[0-9a-f]{64}</pdf:Keywords>`)
	jsonSubtype = regexp.MustCompile(`/Subtype\s*/application#2[Ff]json`)
)

// rewritten says by what a file that has no update as Sign writes it is still one of
// Muster's, taken apart and written again by another program; empty: by nothing. These are
// the marks that qpdf and Ghostscript leave, with object streams, too. A program that keeps
// the pages alone leaves none, and nothing in such a file claims to be Muster's.
func rewritten(file []byte) string {
	switch {
	case bytes.Contains(file, []byte("("+FileName+")")),
		bytes.Contains(file, []byte("/ETSI.CAdES.detached")) && bytes.Contains(file, []byte("/EmbeddedFile")) && jsonSubtype.Match(file):
		return "it has Muster's proof or signature outside the update that Muster writes"
	case printed.Match(file) && !tail.Match(file[max(0, len(file)-mostTail):]):
		return "it has the log's head that a report prints, but does not end as Muster writes a report"
	}
	return ""
}

// displaced is the same of a file that does not begin as a PDF.
func displaced(file []byte) string {
	at := bytes.Index(file[:min(len(file), mostBefore)], []byte("%PDF-"))
	if at > 0 && (rewritten(file) != "" || printed.Match(file)) {
		return fmt.Sprintf("%d bytes precede the PDF", at)
	}
	return ""
}
