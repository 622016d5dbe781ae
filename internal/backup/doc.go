// Package backup makes a copy of an installation from which another can be made
// that proves the same: database, files and keys together.
//
// # A backup
//
// Source.Make writes a directory. One snapshot of the database decides what is
// in it: pg_dump dumps that snapshot, the manifest holds the heads of the logs
// as it shows them, and every file that these logs name is copied afterwards.
// Files are never changed and deleted only when an event says so, so the copy
// is of the same moment although the installation goes on. The logs are verified up to
// these heads. The manifest is written last and in one step; it lists size and digest of every file and is
// signed, like the heads, with the current key.
//
// # A restore
//
// Read holds the backup against its manifest before anything is opened.
// Target.Restore looks whether every part of the target is empty, marks the
// database with a table of its own, loads the dump in one transaction, migrates
// it, claims the blob store, copies files and keys, and then verifies: the logs from
// their first event against the signed heads, every file against the digest in the log.
// The last transaction ends all sessions and drops the mark. RequireFinished keeps every
// other command from a marked database.
//
// The blob store is the restored installation's from before the first file is in it, and
// is not called as the old one was. The dump is a logical one, so the server may be of a
// newer major version than the old one was.
//
// # What may go wrong
//
//   - A backup dies: there is no manifest, and Read says so. Its pg_dump ends with it (on
//     Linux; elsewhere it goes on until it is done). Its directory is not used again: manifest.json.part, which claims it from the first moment,
//     is still there. One that fails, for want of room at its last step, say,
//     removes what it wrote, the manifest first.
//   - Two backups into one directory at once: the claim is the first's, and the
//     second touches nothing.
//   - A backup dies between its entry in the security log and its manifest: the
//     entry tells of a backup that never was.
//   - A file is erased between the dump and its copy: the live log says so, at
//     the latest five seconds after the file went, and the manifest notes it. A
//     file that is gone for no reason, or is not what the log says, fails the
//     backup, unless the operator accepts that; the manifest then notes which.
//     So do an event of which nobody can tell what it names, a key that
//     something is sealed under and that is in no file, and a log that does not verify.
//   - Keys are rotated or retired meanwhile: the keys from before and after the
//     snapshot was taken are all in the backup, and what is sealed in it is held
//     against them.
//   - A generation of a projection is due to be dropped: it waits, because every
//     table is locked (ACCESS SHARE) from before the snapshot until pg_dump is
//     done. Vacuum holds back meanwhile what the snapshot still sees, and so does
//     a migration: upgrade afterwards.
//   - A restore dies: the mark stays. The same call skips what is loaded and what
//     is copied. pg_restore reads from a pipe that ends with us, so it gives up; if
//     it had everything already, it commits, also while the next call loads the
//     dump: that waits for it, fails, and finds the dump loaded, which its heads
//     prove. Before the mark nothing has been written but an empty
//     private server.
//   - Two restores at once, or a restore and a serve that starts: advisory locks
//     let one restore, keep migrations out while the dump is loaded, and serve
//     looks for the mark before and after it migrates.
//   - A backup was changed: a flipped byte, a missing file, an edited manifest are
//     found by Read. Who holds the backup holds the keys, too, and can sign
//     another: against that there are the witnesses, heads kept elsewhere. And a
//     dump is SQL that the target's server runs: restore what you trust.
//   - The source was broken already, its log or a file, and the operator accepted that: the
//     restore says so again and stays unfinished, unless it is accepted there, too.
//
// # What comes back, and what does not
//
// docs/runbooks/restore.md says it. Jobs in the backup that were done since are done
// again: a mail has the same Message-ID, a build a new fence; leases of workers of the
// old installation lapse. Old and new installation cannot share a blob store, which
// must be empty.
package backup
