// Package sheets writes a summary (snapshot/sheet) on paper: its figures and its picture on page 1, and each section
// with its tables. It knows no kind; a Sheet says everything.
//
// A section that the sheet does not have says that it does not apply. A table or text that is too long for a page
// continues on the next one (package typeset).
package sheets
