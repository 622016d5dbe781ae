// Package blocks has what all sections of a report are built from: the builder of one document,
// the cover page, headings, paragraphs, tables, bars, and the words for numbers and times.
//
// A section is a function of a Builder. The packages sections, scorecard and inventory have
// them; package pdf puts them in order.
//
// # What may go wrong
//
// A name is too long for its place: it is shortened, never laid over its neighbor.
package blocks
