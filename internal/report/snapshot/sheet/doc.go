// Package sheet is the form of a summary before it is on paper or on a page: its words, its figures, its tables and
// its pictures. A kind of summary makes one Sheet of its inputs (package sheets has the list). The PDF
// (internal/report/pdf/sheets), the preview on the page and digest.json print the same Sheet, so they cannot disagree.
//
// A Sheet is a pure function of the inputs document: no clock and no map order. Text in it may come from machines;
// whoever prints it cleans it.
//
// What may go wrong: a maker gives a row fewer cells than its table has columns. The row is printed with empty cells.
package sheet
