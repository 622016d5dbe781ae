// Package accounts keeps organizations, their members, and the credentials of members and
// machines: passwords, identities at identity providers, sessions, tokens, invitations and setup
// links. It also keeps the security log of sign-ins and refusals, and the views of members: pages
// under a name.
//
// A Store answers who makes a request (SignIn, SessionPrincipal, TokenPrincipal) and who belongs
// to an organization (Members, Addresses). Facts that people may dispute later (who invited
// whom, who created which token) are events of the organization. So package commands makes those
// changes: it calls the methods here that take a transaction, and appends in the same one.
//
// Secrets: passwords are stored as argon2id with OWASP's parameters, in PHC strings. A session,
// invitation or setup token is 32 random bytes. An API or ingest token is 30 base62 characters
// with a checksum (GitHub's form, so that scanners find a leaked one). Only the SHA-256 of each
// token is stored, which is enough for secrets that nobody can guess. Addresses are lower case,
// and an address has one account in the installation.
//
// What may go wrong, and what then happens:
//
//   - An attacker guesses passwords, or many clients guess at one account without end:
//     docs/security.md (Guessing) says who has to wait, and how long. The delay is checked when
//     a hash may start, so a burst does not slip past the count.
//   - Many anonymous clients try to fill the security log: events that anybody can repeat are
//     recorded once an hour, by a unique key, so two replicas record them once.
//   - A process dies between an action and its entry in the security log (a session ended, a
//     dead letter dropped): the action stands and has no entry. If data leaves Muster (events
//     exported), the entry comes first.
//   - An address in the security log is older than 400 days: each later entry clears ten such
//     addresses. A log without new entries keeps its last addresses.
//   - Two replicas create the first administrator at once: both lock the setup gate. The second
//     finds an administrator and does nothing.
//   - An invitation or setup link is used twice at once: its row is locked, and the second use
//     is refused. A use that fails leaves the link as it was.
//   - The provider sends two sign-ins of one new identity at once: the member's row is locked,
//     and the second finds the link. By unique keys, an identity belongs to one member, and a
//     member has one identity of a provider. So a person who was given the address of a linked
//     member does not get that member's account. An account that is not linked yet goes to the
//     person for whom the provider vouches now.
//   - A person without an account, with a disabled one, or with the address of another person
//     comes from the provider: the answer is the same for all three, and only the security log
//     has the reason. The attempt counts against their network, as a wrong password does, and
//     against no account.
//   - A process dies between writing a session's row and the answer: the session is never used,
//     and ends by itself after 12 idle hours or 7 days.
//   - Clocks of replicas differ: the process that handles the request judges expiry by its own
//     clock. The last use of a session never moves backwards.
//   - The database answers and does not commit: a request waits one second for the last use of
//     its token or session to be written, and then goes on without it. No request tries again
//     for ten seconds.
//   - A member is disabled: that transaction deletes their sessions and revokes their tokens,
//     and also the ingest tokens that they created. None of these works again when the member is
//     enabled.
//   - A member is erased: one transaction empties their row and deletes their credentials. A
//     sign-in in progress gets no session, or loses it here. The row itself stays, without a
//     name, because ids in the log refer to it; a CHECK stops late writers from filling it
//     again. The security log keeps the id.
package accounts
