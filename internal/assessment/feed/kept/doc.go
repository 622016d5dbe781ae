// Package kept stores the updates of the release and CVE feed in the database. So all processes
// of an installation use the same feed, and a backup includes it.
//
// A version holds all records that were added to the embedded tables so far, in canonical form
// with their digest, and the digest of the file that added the last ones. Versions never change,
// and the highest is current. The feed is the embedded tables with these records. The digest in
// a report covers both, so equal digests mean equal feeds.
//
// Reports hold what the feed said about their servers, and are built again without it.
//
// What may go wrong:
//
//   - Two operators update at once: a lock of the table makes the second wait for the first, and
//     plan again on its result. What both bring is then no change.
//   - The process dies: an update is one row.
//   - Somebody changes a row: its digest does not match, and Current returns a *DigestError
//     instead of using it.
//   - The database is away: Current fails. An assessment has no answer for the checks of the
//     server's version, and a report waits for its next attempt.
//   - A later program has newer tables: the newer knowledge counts (feed.With).
package kept
