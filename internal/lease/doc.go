// Package lease is the right to do something for as long as one says that one is
// still at it: what a job's worker, a collector and a monitor hold of a row.
//
// # How it works
//
// A lease is a row with a time until which it holds and a fence: a number or token
// that no other holder of the row ever has. Who takes it writes both, in one
// statement that passes over rows whose time has not come, with SKIP LOCKED or a
// conflict clause, so that two takers never have the same. That statement is each
// room's own, for what is free (the next due job, the server that nobody measures)
// differs. What is the same for all is here:
//
//   - Renew, by a statement under the fence, at each third of the term (Keep).
//   - Guard: a write under the fence that meets no row means that the lease is lost,
//     and the transaction around it is rolled back. A write that is not under the
//     fence is not guarded by anything.
//   - Release: the same, with the time set to now, so that others need not wait.
//   - Lost: *LostError, with the error of every renewal that failed before.
//
// The database's clock is the only judge: every time is computed and compared in SQL,
// by now() or clock_timestamp(). The holder's clock only measures how long ago its
// last renewal began.
//
// # What may go wrong
//
// The holder dies. The term ends, another takes the row with a new fence.
//
// The holder only seems dead (a long pause, a cut connection) and comes back while
// another is at work. Its next renewal or guarded write meets no row.
//
// The database does not answer. A renewal that fails is tried again at the next third.
// When none has succeeded for a whole term, somebody else may be at work: the holder's
// context ends with a *LostError that holds each failure. It stops a third of a term
// late at worst, which does no harm: what it writes meanwhile is under the old fence.
//
// Projections are led under session locks instead (projections/election.go), which
// end with a connection and at no time: a leader that hangs keeps them, and who leads
// is asked of the server each second. That is no lease, and is not here.
package lease
