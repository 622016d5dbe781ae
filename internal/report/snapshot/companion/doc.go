// Package companion writes the tables that go with a report, for spreadsheets and programs:
// findings.csv, cves.csv, accounts.csv and inventory.csv.
//
// They are functions of the inputs document, as the PDF is. A build makes them once and stores
// them beside the PDF, and the Ready event names their digests. They are deleted with the
// report. Making them from the stored inputs at each request would need less storage, and was
// rejected. The inputs are erased by a rule of their own, at once if a member whom they name is
// erased. A later release may write another column. Then one address would give two files, and
// the digest in the log would prove neither. Renderer.Identity of package pdf covers this
// package's text, and `muster reports rebuild` compares the tables with their digests, as it
// does with the PDF.
//
// Each table has the columns findingId, step and riskId: the finding as the API lists it, the action's number in the
// plan of the PDF, and the risk's id in the register. A cell that concerns several has them all, separated by "; ".
//
// The form is RFC 4180: UTF-8 with a byte order mark, without which spreadsheets guess another encoding, commas, lines that end with CR LF, a
// header. Nothing is cut, and an unknown value is an empty cell. A line break in a text stays
// one, within quotes. Every other control character, characters that change the writing
// direction, and line separators are shown by their code point, ‹U+001B›. If a spreadsheet would
// take a text for a formula, ' is put before it (=, +, -, @, their full-width forms, also after
// spaces; a tab, CR or LF at its start): remove it to read the cell as it was.
//
// What may go wrong:
//
//   - A check finds more than snapshot.MaxViolations objects: the first are rows, and the column
//     unlisted of each says how many more there are.
//   - A server was not assessed: it has no rows, which does not make it clean. The PDF and
//     inputs.json say which servers were not assessed.
//   - The program that opens a table expects semicolons as separators, or another encoding than
//     UTF-8, as some do in some languages: it shows something else than what is written. Tell
//     such a program the separator and encoding when it imports.
package companion
