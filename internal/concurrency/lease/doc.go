// Package lease implements leases on rows: the right to work on a row for as long as the holder
// renews it. Workers of jobs, collectors and monitors use them.
//
// # How it works
//
// A leased row has a time until which the lease holds, and a fence: a number or token that no
// other holder of the row ever has. The taker writes both in one statement that skips rows whose
// time has not come, with SKIP LOCKED or a conflict clause, so two takers never have the same
// row. Each package has its own such statement, because each defines differently which rows are
// free (the next due job, the server that nobody measures). This package has the common parts:
//
//   - Renew: a statement under the fence, each time a third of the term has passed (Keep).
//   - Guard: if a write under the fence matches no row, the lease is lost, and the transaction
//     around it is rolled back. A write that is not under the fence is not guarded.
//   - Release: the same, with the time set to now, so others need not wait.
//   - Lost: *LostError, with the error of every earlier renewal that failed.
//
// Only the database's clock decides: every time is computed and compared in SQL, with now() or
// clock_timestamp(). The holder's clock only measures the time since its last renewal began.
//
// # What may go wrong
//
// The holder dies. The term ends, and another process takes the row with a new fence.
//
// The holder only seems dead (a long pause, a cut connection) and comes back while another is at
// work. Its next renewal or guarded write matches no row.
//
// The database does not answer. A renewal that fails is tried again after the next third. If
// none has succeeded for a whole term, another process may be at work: the holder's context ends
// with a *LostError that contains each failure. It stops a third of a term late at worst. That
// does no harm, because its writes in that time are under the old fence.
//
// Projections are led under session locks instead (projections/election.go), which end with a
// connection and not at a time. A leader that hangs keeps them, and the leader asks the server
// each second whether it still leads. That is no lease, and is not part of this package.
package lease
