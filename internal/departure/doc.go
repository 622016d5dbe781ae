// Package departure deletes an organization: its files, its measurements and all that is
// known of its people. Its events stay.
//
// # How it works
//
// First of all it ends (commands.DeleteOrganization): in one transaction the log says
// that it was deleted, when and by whom, its members are forgotten with all that they and
// its machines sign in with, and a row of deleted_organizations says that nothing may be
// inserted for it. From that commit on nobody is let in, it is in no list, and its address
// and its name are free.
//
// Then what is left goes, a few thousand rows a transaction: its measurements, by who
// keeps them, the rows of all tables that have an organization_id, by the catalog, and
// the files of its reports. Stays says of which tables rows are left, and why. When
// nothing else is, its name is forgotten, too.
//
// # Who writes meanwhile
//
// A request, a collector or a worker may have begun before and write after that. A
// trigger on each of those tables refuses the row, or leaves it out where one statement
// inserts for many organizations; the migration says why none slips by. A sender is told
// what one with an unknown token is.
//
// # The log and what is made of it
//
// Events name nobody, so they stay, and the read models show what they say: a rebuild
// comes to the same as before, and nobody can sign in to look at it. A request under way
// may append an event to a stream that was there; it stays like any other.
//
// # What may go wrong, and what then happens
//
//   - The process dies at any line: the organization is deleted or not, and the next call
//     goes on. It is found by its name until nothing is left, by its id for ever.
//   - Two delete the same: one waits for the other, and finds nothing left.
//   - The blob store is away, or a part of the measurements' store: Delete fails after all
//     that it could delete before, and is called again.
//   - A worker writes a file of a report after its job is gone: the sweep of files deletes
//     what belongs to a deleted organization, within the hour.
//   - Somebody's request is under way with an Idempotency-Key: its answer may be kept
//     after that, for a day, as all of them are.
//   - A backup from before it is restored: the organization is back, and deleted again by
//     calling this again.
package departure
