// Package pdf renders a report from its inputs document: all kinds, every section of the
// specification's §4.10, and nothing that is not in the document.
//
// Renderer.Render is a pure function of the document and the build: no clock, no map order, no
// I/O. Creation and modification dates are the document's AsOf. So the same version makes the
// same bytes from the same inputs, which is how `muster reports rebuild --verify` proves a
// report. The tests check that across goroutines and runs.
//
// Renderer.Identity names the renderer. It covers the program text of everything that decides
// the content of a page. So a report from before a change in rendering is "built by another
// renderer", and never seems tampered with.
//
// Below the verdict, page 1 of a Security report has the basis for decisions (sections/decide.go): one
// row for each instance, with checks without an answer hatched in the same unit as failed
// checks; the changes since the previous report; the first five steps of the plan. If there are
// more instances than fit, those with the least weight share one row, and those that were not
// assessed share another.
//
// Page 1 prints the verdict of snapshot/analysis, one rule for all kinds. Green never stands
// beside something unknown, on page 1 and in the sections (blocks.Builder.Clean): unassessed items are
// counted beside assessed ones. A 0 is a figure; an unknown figure is "–", "unknown" or "not
// assessed". The identifiers of the report, its request and the log's head are printed
// completely, in the form that our tools accept.
//
// Every section is printed in every report. An empty section has one of three different
// sentences: assessed and clean, not assessed (and why, and the grant that would help), not
// applicable. A number from partial data has a dagger. A table ends at 20,000 rows and says so.
//
// The report's own page (at the installation's address in the inputs), each CVE and each
// reference of a check are links. analysis.Address decides the target of a reference, and looks
// nothing up. The outline has sections, findings and, under the section on coverage, instances.
//
// The last page ends with a box (blocks/check.go) that says, once, how to check the report with our
// tools and with the public keys alone. The proof itself is not printed: the update that
// internal/proof/pades appends has it, and this file is that update's base. The fingerprint of the
// document of keys in that box is one of the inputs, as it was when they were gathered. So a
// report that is built again after a rotation prints the same, byte for byte. Older inputs have
// no fingerprint, and the box then has its earlier text.
//
// Findings of severity Critical and High are cards (sections/cards.go) that never break over a page; the others are rows.
// What is long is in the tables of package companion, and the pages say in which.
//
// If a document would end with a page that is two thirds empty, it is laid out again with pages
// that end a little lower or higher (layOut). This is also a function of the document.
//
// snapshot/analysis computes the words and figures, and package typeset places them on the page.
// Each section has one file. Package blocks has what sections share; sections, scorecard and
// inventory have them by the kinds that print them. This package puts them in order.
//
// What may go wrong:
//
//   - The document is hostile: names beyond the basic plane, right-to-left overrides, 5,000
//     characters without a break, invalid UTF-8. Everything passes one sanitizer and is shown; a
//     fuzz test checks that.
//   - gofpdf still panics: Render recovers and returns a *RenderError, and the report ends
//     Failed with render_failed instead of ending the worker.
//   - The writer fails (disk full): its error is wrapped and returned, and the caller has to
//     remove what was written.
//   - The process dies: nothing was recorded; another worker renders the same bytes from the
//     same document.
package pdf
