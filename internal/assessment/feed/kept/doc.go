// Package kept keeps the updates of the release and CVE feed in the database, so that all
// processes of an installation judge by one and the same feed, and a backup has it.
//
// A version holds all records that were added to the embedded tables so far, in canonical
// form with their digest, and the digest of the file that made it; versions are never
// changed, the highest is current. The feed is the embedded tables with these records: the
// digest in a report is of both, so that equal digests mean equal feeds.
//
// Reports hold what the feed said of their servers, and are built again without it.
//
// What may go wrong:
//
//   - Two update at once: a lock of the table lets one wait for the other, and plan again
//     on what that one has written. What it brings, too, is no change then.
//   - The process dies: an update is one row.
//   - Somebody changes a row: its digest does not fit, and Current refuses it with a
//     *DigestError rather than to judge by it.
//   - The database is away: Current fails. A look at a server that finds so has no answer
//     for the checks of its version; a report waits for its next attempt.
//   - A later program has newer tables: what they know more newly counts (feed.With).
package kept
