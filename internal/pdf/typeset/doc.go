// Package typeset lays text, tables and shapes out on pages and paints them
// with gofpdf: it knows paper, fonts and line breaking, and nothing of reports.
//
// Layout and painting are two steps. A Document collects drawing operations
// page by page, measured with glyph widths that Fonts read from the font files
// once; when all pages are known, Paint hands them to gofpdf in one pass. So
// "Page 3 of 14" and the page numbers of the contents are plain numbers by the
// time they are painted: gofpdf's {nb} alias prints empty boxes with UTF-8
// fonts and costs O(aliases × pages). Pages are released as they are painted.
//
// What must not stand alone at the foot of a page, a heading with its
// introduction, is kept: a break moves what Keep began over to the next page,
// with its links and marks, unless it is so tall that it may be parted.
//
// Every string passes Fonts.Clean. What is left is printable by one of the
// fonts: Liberation, DejaVu for runs of glyphs that Liberation lacks, Droid for
// Chinese and Japanese and Nanum for Korean, which are not read before a document
// has such a letter and have one weight; everything else is shown by its number,
// ‹U+1F680›, as are Han of beyond the basic plane. That covers what makes
// gofpdf panic (runes above U+FFFF, invalid UTF-8) and what would make a
// report lie (bidirectional overrides, zero-width and control characters).
// Arabic letters take the shape that their neighbours give them when a string is cleaned
// (join): gofpdf prints runes, and Unicode has a rune for each shape, so that no shaping
// library is asked; what such a font cannot say by runes, as Devanagari's, would need
// one, and a writer of glyphs. Hebrew and Arabic are then put in visual order by runs.
// Of Han that Chinese and Japanese draw differently, the Chinese form is printed.
//
// A style may lead to an address: of the web only, since a reader may run others.
// Language, the packet of metadata (XMP) and the wish to show the title are put into the
// catalog that gofpdf wrote, on the way out (output), because it has no call for them; there
// the pages are compressed, too, on all cores.
// gofpdf gets fonts that have the document's glyphs only (cut): it reads a font whole, sums
// it up and cuts it for every document, which was half of the time of one.
//
// What may go wrong:
//
//   - gofpdf writes into the font bytes it is given while it cuts a subset out
//     of them: each document has bytes of its own (cut), so any number may be
//     painted at once.
//   - gofpdf panics on input that nobody foresaw: Paint lets the panic through;
//     package pdf turns it into an error and the report ends Failed.
//   - Another version of gofpdf lays its file out otherwise: Paint returns an error, and no
//     document is made.
//   - A cell does not fit: it wraps, at spaces first, after . _ - / and the like
//     if a word is longer than the line, between ideographs, anywhere if need be; beyond
//     MaxCellLines it says how many characters follow. Nothing is cut silently.
package typeset
