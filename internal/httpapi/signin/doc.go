// Package signin serves access: sessions and passwords, the identity provider, the first
// sign-in, members and invitations, tokens, and the organization's settings.
//
// Package accounts stores all of it. Changes that others have to know about are events, and go
// through commands. If the caller's role may not see a member's address, the answer has enough
// of it to tell two people with the same name apart.
//
// # What may go wrong
//
//   - A member is erased: stored answers that name them are deleted in the same transaction. An
//     answer that is being sent to another person at that moment is stored after it. It is
//     deleted with the first key that is used a day later.
//   - Muster refuses a sign-in that comes from the identity provider: a person without an account,
//     with a disabled one, or with one that belongs to another person there gets the same answer.
//     The security log has the reason.
package signin
