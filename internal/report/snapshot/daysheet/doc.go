// Package daysheet makes the sheet of a daily digest, which the preview shows: the words of package day, section by
// section. The PDF and the mail have forms of their own for the same words.
//
// A document without a day says that nothing is known, and its state is unknown.
package daysheet
