// Package exception is the life of an exception: a finding, or every finding of
// a kind, that somebody asks to live with and an administrator answers.
//
// An Exception is folded from its events and decides what happens next. Which
// event may follow which status is one table, Transitions; a decision that is
// not in it is a *TransitionError. A granted exception lapses at its Until: that
// is no event but follows from the clock of whoever looks (StatusAt), so that it
// holds to the second, whether or not anything was running then.
//
// What it is about is a Subject: a check, and as much of the place as was named.
// What is left out stands for all of them.
//
// Who asked and who decided is in the metadata of the events, by id only. The
// reason is what the requester writes; it stays in the log for ever and is
// printed in reports, so it is no place for personal data.
//
// What may go wrong, and what then happens:
//
//   - Two administrators decide at once: the caller has them come one after the
//     other. Of two who grant, or two who revoke, the second meets a
//     *TransitionError. Of one who grants and one who revokes, whoever comes
//     first, the exception ends revoked: no order leaves one in force that an
//     administrator has refused.
//   - The clocks of two machines differ: one may see an exception lapse a moment
//     before the other does. Granting or revoking one that has lapsed is a
//     *LapsedError by the time given.
package exception
