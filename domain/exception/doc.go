// Package exception is the life of an exception: a member asks to accept one finding, or every
// finding of a check, and an administrator decides.
//
// An Exception is folded from its events and decides what happens next. One table, Transitions,
// says which event may follow which status. Any other decision is a *TransitionError. A granted
// exception lapses at its Until. No event records that: each reader judges it by its own clock
// (StatusAt), so the end holds to the second even if no process was running then.
//
// A Subject says what the exception covers: a check, and optionally an instance, a database or
// an object. A part that is left out means all of them. In the place of a check it may name a
// risk of the Data Inventory's register: the exception is then the decision to accept that risk.
//
// The metadata of the events says who requested and who decided, by id only. The requester
// writes the reason. It stays in the log forever and is printed in reports, so it must not
// contain personal data.
//
// What may go wrong, and what then happens:
//
//   - Two administrators decide at the same time: the caller makes them take turns. If both
//     grant, or both revoke, the second gets a *TransitionError. If one grants and the other
//     revokes, the exception ends revoked in either order: an exception that an administrator
//     has refused is never left in force.
//   - The clocks of two machines differ: one may see an exception lapse a moment before the
//     other. Granting or revoking a lapsed exception is a *LapsedError, judged by the time that
//     the caller passes.
package exception
