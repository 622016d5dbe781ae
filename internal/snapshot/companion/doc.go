// Package companion writes the tables that go with a report, for spreadsheets and
// programs: findings.csv and inventory.csv.
//
// They are functions of the inputs document, as the PDF is. A build makes them once,
// stores them beside the PDF, and the Ready event names their digests; they end with
// the report. To make them from the stored inputs at each request would be less to
// keep, and was left: the inputs are erased by a rule of their own, at once where a
// member whom they name is erased, and a later release may write another column, so
// that one address would give two files and the digest in the log would prove neither.
// Renderer.Identity of package pdf covers this package's text, and `muster reports
// rebuild` holds the tables to their digests as it does the PDF.
//
// The form is RFC 4180: UTF-8 without a byte order mark, commas, lines that end with
// CR LF, a header. Nothing is cut; what is unknown is an empty cell. A line break in a
// text stays one, within quotes. Every other control character, those that turn the
// direction of writing, and line separators are shown by their number, ‹U+001B›. A text
// that a spreadsheet would take for a formula has ' before it (=, +, -, @, their
// full-width forms, also after spaces; a tab, CR or LF at its start): to read a cell as
// it was, take that away.
//
// What may go wrong:
//
//   - A check finds more than snapshot.MaxViolations objects: the first are rows, and
//     each says in unlisted how many there are beyond them.
//   - A server was not assessed: it has no rows, which does not make it clean. The PDF
//     and inputs.json say which.
//   - The program that opens a table takes semicolons for its separator, or another
//     encoding for UTF-8, as some do by their language: what it shows is not what is
//     written. Such a program is told the separator and encoding when it imports.
package companion
