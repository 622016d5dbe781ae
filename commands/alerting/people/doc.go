// Package people keeps whose sessions an alert about a wait for a lock speaks of: users, applications
// and clients. They are personal data, so the log never has them. The event that raises the alert
// has their digest (alert.PeopleDigest), and its title has the ids of sessions.
//
// # How it works
//
// The command that raises the alert keeps the people of its frozen tree in the same transaction
// (Keep). Later titles may name other sessions; whoever a title names is added (Add), but does not
// belong to the tree. Readers get titles with names by alert.Named, where they may see them: pages
// and the API for all roles but viewers, notifications, and the reports' inputs. If the people of
// the tree do not match the event's digest, somebody changed them, and the tree shows none (Frozen).
//
// An organization that keeps no people of sessions (sessionDetail) has none here: Drop erases them
// when it turns them off.
//
// Prune erases them, with their salt, after the organization's inputsRetentionDays. Afterwards all
// titles have the ids of sessions, and the digest cannot be tested against guesses. Reports that
// were built before keep the names for as long as they themselves are kept.
//
// # What may go wrong
//
//   - The people of an alert that still fires are erased: whom its next titles name is kept anew.
//   - More than 100 people are named one after the other: the others are not kept, and titles have
//     the ids of their sessions.
//   - A session's id is used again: the title names the one that began last.
//   - Prune runs every few hours, so people are kept for up to that much longer.
package people
