// Package kit tests the files with which an operations team installs Muster. The package has no
// code of its own; the files lie in its folders.
//
// Each file begins with its purpose and with what it was tried with. If a third-party tool can
// check a file (promtool), that tool does. Statements about Muster in a file (metrics, settings,
// limits, pages) are compared with Muster's own sources. If a file needs a running Muster to be
// tried, its test is in e2e.
//
// # What may go wrong
//
//   - A metric is renamed, and an alert rule never fires again: the tests fail if a rule or a
//     panel names a metric that is not registered.
//   - The chart accepts a setting that Muster does not have, or rejects one that it has: both
//     are compared with docs/configuration.md.
//   - A tool is not installed: its tests are skipped and say which package has it.
package kit
