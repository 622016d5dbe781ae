// Package deletion deletes an organization: its files, its measurements and all personal data
// of its members. Its events stay.
//
// # How it works
//
// First the organization ends (commands.DeleteOrganization). One transaction appends the event
// of the deletion (when, and by whom), erases its members with their credentials and those of
// its machines, and inserts a row in deleted_organizations, after which nothing may be inserted
// for it. From that commit on nobody can sign in to it, no list has it, and its address and name
// are free.
//
// Then the remaining data is deleted, a few thousand rows in each transaction: its measurements,
// by each store of them; the rows of all tables that have an organization_id, found in the
// catalog; and the files of its reports. Stays lists the tables whose rows stay, and why. When
// nothing else is left, its name is erased, too.
//
// # Who writes meanwhile
//
// A request, a collector or a worker may have begun before the deletion and write after it. A
// trigger on each of those tables refuses the row, or leaves it out if one statement inserts for
// many organizations; the migration says why no row slips by. A sender gets the same answer as
// with an unknown token.
//
// # The log and the read models
//
// Events contain no names, so they stay, and the read models show them: a rebuild has the same
// result as before, and nobody can sign in to see it. A request in progress may append an event
// to an existing stream; it stays like any other.
//
// # What may go wrong, and what then happens
//
//   - The process dies at any line: the organization is deleted or not, and the next call goes
//     on. It is found by its name until nothing is left, and by its id forever.
//   - Two calls delete the same organization: one waits for the other, and finds nothing left.
//   - The blob store is away, or a part of the measurements' store: Delete deletes everything
//     else, then fails, and is called again.
//   - A worker writes a file of a report after its job is gone: the sweep of files deletes the
//     files of deleted organizations within the hour.
//   - A request with an Idempotency-Key is in progress: its answer may be stored after the
//     deletion, for a day, as all such answers are.
//   - A backup from before the deletion is restored: the organization is back. Calling this
//     again deletes it again.
package deletion
