// Package kit has no code: beside it lies what an operations team installs Muster
// with, and the tests of this package hold those files to what they promise.
//
// Each file begins with what it is for and what it was tried with. What a tool of
// others can judge (promtool), that tool judges; what a file says of Muster (figures,
// settings, limits, pages) is held against Muster's own sources. Where a file needs a
// running Muster to be tried, the test is in cmd/muster.
//
// # What may go wrong
//
//   - A figure is renamed, and an alert is silent for ever: no rule and no panel names a
//     figure that is not registered.
//   - The chart lets through a setting that Muster does not have, or keeps one from being
//     set: both are held against docs/configuration.md.
//   - A tool is not installed: its tests are skipped and say which package has it.
package kit
