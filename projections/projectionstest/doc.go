// Package projectionstest runs projections beside a test, over a log that the test writes.
//
// Run starts the projections and stops them when the test ends. Settle waits until they have
// passed every event written with Append. Handle runs an event handler. PagesMayBeCutAnywhere
// checks that a projection produces the same rows live and rebuilt, for any division into pages.
//
// What may go wrong: a projection parks an event or does not advance. Settle then fails the test
// after a minute instead of waiting forever.
package projectionstest
