// Package supervise keeps a panic from ending the process.
//
// A panic in any goroutine that does not recover it ends a Go program, and everything else that
// the process does. So every goroutine that Muster starts is one of two kinds:
//
//   - A loop works until the process stops. A Supervisor runs it. A loop that panics, fails or
//     returns early is logged as an ERROR with its stack, counted (muster_loop_restarts_total)
//     and started again after a pause. The pause is 1 s at first, doubles up to 1 min, and
//     begins anew after 5 min without a failure.
//   - A goroutine with a waiter returns its panic to the waiter as an error: a member of a
//     Group, or a function under Call.
//
// The test TestNoGoroutineIsBare finds each go statement of the program that does neither, and
// names the few that are allowed, with the reason.
//
// # What a failure means
//
// A loop is in trouble from its failure until the new run has lasted for a minute. While a loop
// is in trouble, the check `loops` of /readyz fails and the process is degraded: the other loops
// continue. The check is not required, because a proxy that takes the process out would stop
// those, too.
//
// A loop's function must be able to run again on the state that the last run left behind. The
// context of a run ends with it, so everything that a run has started ends before the next run.
//
// # What may go wrong
//
//   - A panic leaves a lock held: deferred unlocks run, others do not. Code between a Lock and
//     an Unlock that is not deferred must not call what may panic.
//   - The Go runtime ends the process by itself: out of memory, concurrent writes to a map, a
//     stack that is too deep, a deadlock of all goroutines. No code can recover these. The
//     service manager starts the process again.
//   - A library panics in a goroutine of its own. The libraries that Muster uses recover theirs,
//     or have none that runs our code.
//
// internal/cli documents what may still end `muster serve` on purpose.
package supervise
