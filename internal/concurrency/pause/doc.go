// Package pause waits: for a while, for a while unless something wakes it first, or from turn to
// turn. Every wait ends at once with its context, so a shutdown does not wait for any, and no
// timer outlives its wait.
//
// What may go wrong: this machine's monotonic clock measures a wait, not the clock that a test
// injects. Something that must hold by a certain clock (a lease, an expiry) is judged by that
// clock; a pause only says when to look again.
package pause
