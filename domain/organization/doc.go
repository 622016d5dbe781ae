// Package organization has the members of an organization, the rights of their roles, and
// the changes that are recorded as events.
//
// The table of roles (Role.Scopes) is the contract's, §12. An Organization is
// folded from its events and decides about members and tokens; names, addresses
// and secrets live outside the log, keyed by the ids that the events carry. That
// is also why a member can be erased and the log stays as it is. Settings are
// decided from the values that live outside, for the name is one of them; the
// event says what changed.
//
// What may go wrong, and what then happens: the same invitation, acceptance,
// revocation or setting comes twice: no event. A member is erased twice: the
// second time they are unknown. Two administrators take the role from each
// other at once: the caller appends at the version it folded, so that one of
// them folds again and meets the *LastAdminError.
package organization
