// Package typeset lays text, tables and shapes out on pages and paints them with gofpdf. It
// knows paper, fonts and line breaking, and nothing about reports.
//
// Layout and painting are two steps. A Document collects drawing operations page by page,
// measured with glyph widths that Fonts read from the font files once. When all pages are known,
// Paint passes them to gofpdf in one pass. So "Page 3 of 14" and the page numbers of the
// contents are plain numbers when they are painted: gofpdf's {nb} alias prints empty boxes with
// UTF-8 fonts and costs O(aliases × pages). Pages are released as they are painted.
//
// Keep prevents a heading and its introduction from standing alone at the foot of a page: a
// break moves everything since Keep to the next page, with its links and marks, unless it is
// tall enough to be split.
//
// Every string passes Fonts.Clean, and the result is printable by one of the fonts. These are
// Liberation, DejaVu for runs of glyphs that Liberation lacks, Droid for Chinese and Japanese,
// and Nanum for Korean. Each is read when a document has a letter of it; Droid and Nanum have one
// weight. All other characters are shown by their code point, ‹U+1F680›, as are Han
// beyond the basic plane. That covers the characters that make gofpdf panic (runes above U+FFFF,
// invalid UTF-8) and those that would make a report misleading (bidirectional overrides,
// zero-width and control characters). When a string is cleaned, Arabic letters take the shape
// that their neighbors give them (join). gofpdf prints runes, and Unicode has a rune for each
// shape, so no shaping library is needed. Scripts without runes for shapes, such as Devanagari,
// would need one, and a writer of glyphs. Hebrew and Arabic are then put in visual order by
// runs. For Han that Chinese and Japanese draw differently, the Chinese form is printed.
//
// What is drawn belongs to an element of the document's structure, which screen readers follow: a heading, a paragraph, a
// table with its rows and cells (structure.go). Text that no element was opened for is a paragraph of its own, in the order
// of drawing; Place keeps a place for what is drawn later, such as the contents. Running heads, feet and shapes are
// artifacts. gofpdf knows no structure: Paint writes the marks into the pages, and output appends the objects (tagging.go).
// Links are no elements yet, so the files do not claim to conform to PDF/UA.
//
// Whole keeps something on one page by drawing it without breaks and moving it if it does not fit. Fits only asks.
//
// A style may link to an address, and only to a web address, because a reader may run others.
// gofpdf has no call for the language, the metadata packet (XMP) and the flag that shows the
// title. They are put into the catalog that gofpdf wrote, on the way out (output). The pages are
// compressed there, too, on all cores. gofpdf gets fonts with only the document's glyphs (cut).
// With complete fonts, it read, checksummed and cut each one for every document, which took half
// of a document's time.
//
// What may go wrong:
//
//   - gofpdf writes into the font bytes that it is given while it cuts a subset out of them:
//     each document has its own bytes (cut), so any number may be painted at once.
//   - gofpdf panics on unforeseen input: Paint lets the panic through. Package pdf turns it into
//     an error and the report ends Failed.
//   - Another version of gofpdf lays its file out differently: Paint returns an error, and no
//     document is made.
//   - A cell does not fit: it wraps, at spaces first, after . _ - / and the like if a word is
//     longer than the line, between ideographs, and anywhere if needed. Beyond MaxCellLines it
//     says how many characters follow. Nothing is cut silently.
package typeset
