// Package signin handles access: sessions and passwords, the identity
// provider, the first sign-in, members and invitations, tokens, and the organization's
// settings.
//
// Accounts keeps all of it; what others have to know of it is an event, and goes through
// commands. Of a member whose address the caller's role may not see there is enough of
// it left to tell two people of one name apart.
//
// # What may go wrong
//
//   - A member is erased: answers that name them are forgotten with them, in one
//     transaction. One that is being given to somebody else at that moment is kept
//     after it, and goes with the first key that is used a day later.
//   - Somebody is refused at the identity provider: whoever has no account, a disabled
//     one, or one that belongs to somebody else there is told the same; the security log
//     has the reason.
package signin
