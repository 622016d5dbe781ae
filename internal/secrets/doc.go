// Package secrets keeps the installation's secret keys.
//
// A key is 32 random bytes, one line of hexadecimal digits in a file, created at the first
// start. HKDF (RFC 5869) derives one key for each purpose from it, so no use of one says
// anything about another: connection strings are encrypted with AES-256-GCM, heads of the log
// are signed with Ed25519, and the fingerprint identifies a key without revealing it. Sealed
// data names its key, so a wrong key can be told from a damaged ciphertext.
//
// The file holds a Ring. Its first line is the current key, which seals and signs. The others
// only open what was sealed under them. Rotate puts a new key in front, and Retire removes the
// old ones. Running processes check the file before each use, so they need not be notified.
//
// Processes on several machines share one key file and one blob store. If they did not, nothing
// would show that for weeks. So CheckFingerprint and CheckKeys store in the database what the
// first process had, and every later process compares. The database also keeps every key's
// fingerprint, public half and dates: heads that a key signed can be checked after it is gone,
// and a process that missed a rotation is told what to do.
//
// # Own marks
//
// A mark is an HMAC-SHA-256 that the program puts on what it builds or accepts (Ring.Mark): on a
// report that is ready, on an assessment. Its key is derived from the secret key. So a person
// who has only the database can append an event but cannot mark it, and Muster signs nothing for
// an event without its mark. A mark says that the program wrote something, not that it is true,
// and only this installation can check it. The marked text names the organization and the
// subject, so a mark that is copied to another event is false there.
//
// Marks under every key of the ring count. When Retire removes a key, only its mark key is kept,
// sealed under the current key, with the position that each log had reached. An event after that
// position needs a mark under another key. A thief with a retired key marks nothing new.
//
// Events from before marks have none. At the first start of a program that makes marks,
// BeginMarks records the time and the position of each log. This note is sealed in the row
// "begun" and in a file beside the key file, or in the data directory if nothing can be written
// there (secret.key.marks, no secret). Each note has a number, and the highest of row, file and
// memory counts. So if SQL deletes, damages or sets back the row, the next start repairs it, and
// running processes are not affected. If there is no note at all, no event counts as from
// before.
//
// In an upgrade replica by replica, earlier programs write events without a mark while this one
// runs. As long as one is connected (internal/postgres.OlderPrograms), an event without a mark
// may be theirs. The note is closed when the last has gone, and after a day by our own clock,
// because a connection that pretends to be an old program would hold it open. Until then, SQL
// alone can do no more than the old program itself can. If you go back to the earlier program
// and upgrade again, tell this one (AcceptUnmarked, muster keys accept-unmarked).
//
// What may go wrong with marks:
//
//   - A backup is restored that is older than the note: its row is of that time, and the file
//     beside the key may be later. The later note counts, limited to the positions of the
//     restored log: later events have marks. On another machine, only the row counts. A backup
//     from before marks has no row: if there is no file either, the start after it is a first
//     start.
//   - A backup from before a key was retired is restored beside a key file from after: marks
//     under that key are false until the key's line is put back into the file.
//   - The file is lost with its directory, as in a container without a volume: a person who then
//     deletes the row and has every process restarted makes all events up to then events from
//     before. Checkpoints outside Muster show what was appended meanwhile.
//   - The file is garbled, or names another installation than the database: that is reported,
//     and the file is written anew. If the row is gone, too, no event counts as from before: SQL
//     could change the installation's id and delete the row.
//   - A process marks under a key while that key is rotated and retired: see handlers, which
//     makes a mark and appends in one transaction that the rotation waits for (HoldKeys).
//   - A process runs with a key file from before a rotation: it checks no marks (Ring.Outdated),
//     and leaves reports and assessments to others, instead of calling theirs altered.
//   - The row of a retired key is deleted: its marks are false. Nothing is vouched for by
//     mistake.
//
// # Failures
//
// What may go wrong:
//
//   - Two processes create the key at once: each writes its own file aside and links it into
//     place. The link of the second fails, and it reads the first's key.
//   - A process dies, or the disk is full, while a key is written: a file aside is left over,
//     with a name that is never read. The key file itself has its old or its new content.
//   - The file is readable by everybody, cut short, or a directory: it is refused with a
//     sentence. A new key never replaces something that is there.
//   - The file is lost, or one of several machines never had it: the database's fingerprint
//     refuses the next start (RequireKeys), before it creates a new key or changes the schema.
//     Sealed data stays sealed.
//   - A rotation dies before it has replaced the file: nothing has happened. If it dies after
//     that and before its transaction commits, the new key seals already, and the old one opens
//     the rest. The next rotation finishes this one instead of creating another key. If a
//     retirement dies before it has replaced the file, the old keys are still there and nothing
//     needs them; run it again.
//   - Two rotate at once: the row of the current key makes them take turns, so there are two new
//     keys, one after the other, and none is lost. If one continues after its connection died, a
//     lock keeps it from the file.
//   - A process elsewhere has a copy of the file from before the rotation, or an orchestrator
//     provides the file, so that it cannot be replaced: docs/runbooks/rotate-keys.md says what
//     works then, and what to do. The database refuses data that is sealed under a retired key
//     (installation_keys.retired_at), so it is not lost. If not even a lock can be created
//     beside the file, none is needed.
//   - Root rotates first and the service's user then: the new file and its lock belong to their
//     owner.
//   - A change of keys cannot be recorded, or dies between record and commit: in the first case
//     it is not done; in the second there is one entry too many.
package secrets
