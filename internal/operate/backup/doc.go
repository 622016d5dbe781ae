// Package backup makes a copy of an installation (database, files and keys together), from which
// another installation can be restored that proves the same reports.
//
// # A backup
//
// Source.Make writes a directory. One snapshot of the database decides its content: pg_dump
// dumps that snapshot, the manifest holds the heads of the logs in it, and every file that these
// logs name is copied afterwards. Files never change, and are deleted only when an event says
// so. So the copy shows the same moment although the installation goes on. The logs are verified
// up to these heads. The manifest is written last and in one step. It lists the size and digest
// of every file. The manifest and the heads are signed with the current key.
//
// # A restore
//
// Read compares the backup with its manifest before anything is opened. Target.Restore checks
// that every part of the target is empty, marks the database with a table of its own, and loads
// the dump in one transaction. Then it migrates the database, claims the blob store, and copies
// files and keys. Last it verifies the logs from their first event against the signed heads, and
// every file against the digest in the log. The last transaction ends all sessions and drops the
// mark. RequireFinished keeps every other command from a marked database.
//
// The blob store belongs to the restored installation before the first file is in it, and does
// not have the old one's identity. The dump is a logical one, so the server may have a newer
// major version than the old one.
//
// # What may go wrong
//
//   - A backup dies: there is no manifest, and Read says so. Its pg_dump ends with it on Linux;
//     on other systems it runs until it is done. The directory is not used again, because
//     manifest.json.part, which claims it from the first moment, is still there. A backup that
//     fails, for example because its last step has no room, removes its files, the manifest
//     first.
//   - Two backups into one directory at once: the first has the claim, and the second touches
//     nothing.
//   - A backup dies between its entry in the security log and its manifest: the entry refers to
//     a backup that does not exist.
//   - A file is erased between the dump and its copy: the live log says so within five seconds
//     of the deletion, and the manifest notes it. A file that is missing without a reason, or
//     differs from the log, fails the backup, unless the operator accepts that; the manifest
//     then lists the file. The same applies to an event whose files cannot be determined, to a
//     sealing key that is in no file, and to a log that does not verify.
//   - Keys are rotated or retired meanwhile: the backup has the keys from before and from after
//     the snapshot, and what is sealed in it is checked against them.
//   - A generation of a projection is due to be dropped: it waits, because every table is locked
//     (ACCESS SHARE) from before the snapshot until pg_dump is done. Meanwhile vacuum keeps the
//     rows that the snapshot still sees, and a migration waits: upgrade afterwards.
//   - A restore dies: the mark stays. The same call skips what is loaded and copied. pg_restore
//     reads from a pipe that ends with our process, so it gives up. If it had read everything
//     already, it commits, even while the next call loads the dump: that load waits for it,
//     fails, and finds the dump loaded, which its heads prove. Before the mark, nothing has been
//     written except an empty private server.
//   - Two restores run at once, or a restore and a serve that starts: advisory locks let one
//     restore run, keep migrations out while the dump is loaded, and serve looks for the mark
//     before and after it migrates.
//   - A backup was changed: Read finds a flipped byte, a missing file, an edited manifest. A
//     person who holds the backup also holds the keys, and can sign another one. Only witnesses
//     (heads kept elsewhere) help against that. A dump is SQL that the target's server runs:
//     restore only what you trust.
//   - The source was already broken, in its log or in a file, and the operator accepted that:
//     the restore says so again and stays unfinished, unless it is accepted there, too.
//
// # What comes back, and what does not
//
// See docs/runbooks/restore.md. Jobs in the backup that were done since the backup are done
// again: a mail has the same Message-ID, and a build has a new fence. Leases of workers of the
// old installation lapse. The old and the new installation cannot share a blob store; the new
// one must be empty.
package backup
