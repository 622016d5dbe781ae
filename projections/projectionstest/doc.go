// Package projectionstest runs projections beside a test, over a log that the
// test writes.
//
// Run starts them and stops them with the test. What is written by Append, Settle
// waits for. Handle does what handlers do. PagesMayBeCutAnywhere holds any projection to give the same rows live and rebuilt.
//
// What may go wrong: a projection parks an event or does not get on;
// Settle then fails the test after a minute instead of waiting for ever.
package projectionstest
