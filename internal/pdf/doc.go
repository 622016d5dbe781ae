// Package pdf renders a report from its inputs document: all kinds,
// every section of the specification's §4.10, and nothing that is not in the
// document.
//
// Renderer.Render is a pure function of the document and the build: no clock,
// no map order, no I/O. Creation and modification dates are the document's
// AsOf. So a rebuild by the same version from the same inputs gives the same
// bytes, which is how `muster reports rebuild --verify` proves a report; the
// tests hold it across goroutines and runs.
//
// Who rendered is said by Renderer.Identity, which covers the program text of all
// that decides what is on a page: a report of before a change in rendering is "built
// by another renderer", and never seems tampered with.
//
// Page 1 of a Security report goes on below the verdict with what to decide upon
// (decide.go): a row an instance, with what has no answer hatched in the unit of what
// fails; what happened since the report before; the first five steps of the plan.
// Where there are more instances than fit, the lightest become one row, and those that
// nobody looked at another.
//
// Page 1 says the verdict of snapshot/analysis, one rule for all kinds. Green
// stands over nothing unknown, on page 1 and in the sections (builder.clean): what was
// not looked at is counted beside what was. A 0 is a figure; what nobody knows is "–",
// "unknown" or "not assessed". Whatever identifies the report, its request and the
// log's head, is printed whole, as our tools take it.
//
// Every section is printed in every report, also when it is empty, with one of
// three different sentences: assessed and clean, not assessed (and why, and
// the grant that would help), not applicable. A number that stands on partial
// data carries a dagger. A table ends at 20,000 rows and says so.
//
// The report's own page (at the installation's address that the inputs hold), each CVE
// and each reference of a check can be clicked; where a reference leads is decided by
// analysis.Address, which looks nothing up. The outline has sections, findings and,
// under the section on coverage, instances.
//
// The last page ends with a box (check.go) that says, once, how to check the report with
// our tools and with the public keys alone. Nothing of the proof itself is on paper: the
// update that internal/pades appends has it, and this file is that update's base. The
// fingerprint of the document of keys in that box is one of the inputs, as it was when they
// were gathered: a report that is built again after a rotation prints the same, byte for byte.
// Inputs of before have none, and the box then says what it said before.
//
// A document that ends with a page two thirds empty is laid out again with pages that
// end a little lower or higher (layOut), which is a function of the document, too.
//
// What the words and figures say is computed by snapshot/analysis; how they
// stand on the page is package typeset's business; this package puts one into
// the other. A file a section.
//
// What may go wrong:
//
//   - The document is hostile: names beyond the basic plane, right-to-left
//     overrides, 5,000 characters without a break, invalid UTF-8. Everything
//     passes one sanitizer and shows; a fuzz test holds it.
//   - gofpdf panics all the same: Render recovers and returns a *RenderError,
//     and the report ends Failed with render_failed instead of taking the
//     worker with it.
//   - The writer fails (disk full): its error comes back wrapped, and what was
//     written is for the caller to remove.
//   - The process dies: nothing was promised; another worker renders the same
//     bytes from the same document.
package pdf
