// Package projectionstest runs one projection beside a test, over a log that the
// test writes.
//
// Run starts it and stops it with the test. What is written by Append, Settle
// waits for.
//
// What may go wrong: the projection parks an event or does not get on;
// Settle then fails the test after a minute instead of waiting for ever.
package projectionstest
