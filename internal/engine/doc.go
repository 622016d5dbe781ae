// Package engine lists the database engines that Muster knows.
//
// # How it works
//
// An engine is one value (trait.Engine) in one folder of its own. All is the one list of these
// values, and Of finds one by its name. Every other list of engines is this list, or a test here
// compares it with this list: the domain's engines, the enums of openapi.yaml, and the labels of
// the pages.
//
// The value holds facts: words, rules and tables. They need no connection, so every package may
// read them. Values are in the binary, and tests compare them with what they describe.
//
// # To add an engine
//
// Make its folder, add its value to All and its name to domain/fleet. The tests here name the
// lists that lack it.
//
// An engine to which Muster connects also needs a connection string and sessions in package
// servers, an inspector in a folder of internal/assessment, a reader in a folder of
// internal/intake/measure, and one value in live that joins them. The test of live names the
// missing parts. In the pages, its name goes into checkedEngines of web/src/engines.ts: each
// table that lacks it does not compile.
//
// # What may go wrong
//
//   - A name belongs to no engine: Of returns an *UnknownError. A document that an earlier or
//     later Muster wrote may still be printed (Described).
//   - A value changes the text of reports: the renderer's identity covers Source.
package engine
