// Package organization is who belongs to an organization, what their roles
// allow, and which changes of that people argue about later.
//
// The table of roles (Role.Scopes) is the contract's, §12. An Organization is
// folded from its events and decides about members and tokens; names, addresses
// and secrets live outside the log, keyed by the ids that the events carry.
//
// What may go wrong, and what then happens: the same invitation, acceptance or
// revocation comes twice: no event. Two administrators take the role from each
// other at once: the caller appends at the version it folded, so that one of
// them folds again and meets the *LastAdminError.
package organization
