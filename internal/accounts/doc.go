// Package accounts keeps organizations, their members, and what members and
// machines sign in with: passwords, what identity providers know them by,
// sessions, tokens, invitations and setup links, and the security log of
// sign-ins and refusals.
//
// A Store answers who makes a request (SignIn, SessionPrincipal,
// TokenPrincipal) and who belongs where (Members, Addresses). What
// people argue about later (who invited whom, who minted which token) is an
// event of the organization, so those changes are made by package commands: it
// calls the methods here that take a transaction, and appends in the same one.
//
// Secrets: passwords are argon2id with OWASP's parameters as PHC strings. A
// session, invitation or setup token is 32 random bytes, an API or ingest token
// 30 base62 characters with a checksum (GitHub's form, so that scanners find a
// leaked one); of all of them only the SHA-256 is kept, which is enough for
// secrets that nobody can guess. Addresses are lower case, one account each in
// the installation.
//
// What may go wrong, and what then happens:
//
//   - Somebody guesses passwords, or a crowd does at one account without end: who
//     waits then, and how long, says docs/security.md (Guessing). The delay is judged
//     when a hash may start, so that a burst does not slip by the count.
//   - A crowd at the door writes the security log full: what anybody can repeat
//     is noted once an hour, by a unique key, so that two replicas note it once.
//   - A process dies between an act and its entry in the security log (a
//     session ended, a dead letter dropped): the act stands and nobody sees it.
//     Where something leaves the house (events exported), the entry comes first.
//   - An address in the security log is older than 400 days: later entries empty
//     ten each. A log that nobody writes to keeps the last ones.
//   - Two replicas create the first administrator at once: both lock the setup
//     gate, the second finds one and does nothing.
//   - An invitation or setup link is used twice at once: its row is locked, the
//     second is refused. A use that fails leaves the link as it was.
//   - Two sign-ins of one new identity come from the provider at once: the
//     member's row is locked, the second finds the link. An identity is one
//     member's and a member has one of a provider, by unique keys: whoever was
//     given the address of somebody who is linked does not get their account. Whose
//     account is not linked yet is whom the provider vouches for now.
//   - Somebody without an account, with a disabled one or with somebody else's
//     address comes from the provider: they are told the same, and only the
//     security log says which. It counts against their network, as a wrong
//     password does, and against no account.
//   - A process dies between a session's row and the answer: the session is
//     never used and ends by itself, after 12 idle hours or 7 days.
//   - Clocks of replicas differ: expiry is judged by the clock of the process
//     that is asked; a session's last use never runs backwards.
//   - The database answers and does not commit: a request waits a second for its token's or
//     session's use to be written down, goes on without, and none tries again for ten seconds.
//   - A member is disabled: their sessions are gone and their tokens revoked in that
//     transaction, also the ingest tokens that they minted. None of them works again when
//     the member is enabled.
//   - A member is erased: in one transaction their row is emptied and what they
//     signed in with is gone; a sign-in under way gets no session, or loses it
//     here. The row itself stays, without a name, for the ids in the log to lead
//     to; a CHECK holds whoever writes to it late. The security log keeps the id.
package accounts
