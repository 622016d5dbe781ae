// Package pause waits: for a while, for a while unless something wakes first, or
// from turn to turn. Every wait ends at once with its context, so that a shutdown
// waits for none, and no timer outlives its wait.
//
// What may go wrong: a wait is measured by this machine's monotonic clock, not by
// the clock that a test injects. What must hold by somebody's clock (a lease, an
// expiry) is judged there; a pause only says when to look again.
package pause
