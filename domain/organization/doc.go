// Package organization has the members of an organization, the rights of their roles, and the
// changes that are recorded as events.
//
// The table of roles (Role.Scopes) is that of the API contract, §12. An Organization is folded
// from its events and decides about members and tokens. Names, addresses and secrets are stored
// outside the log, under the ids that the events carry, so Muster can erase a member without
// changing the log. Decisions about settings use the stored values, because the name of the
// organization is one of them; the event says what changed.
//
// What may go wrong, and what then happens:
//
//   - The same invitation, acceptance, revocation or setting comes twice: the second adds no
//     event.
//   - A member is erased twice: the second time the member is unknown.
//   - Two administrators take the role from each other at the same time: the caller appends at
//     the version that it folded, so one of them folds again and gets the *LastAdminError.
package organization
