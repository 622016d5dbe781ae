// Package secrets keeps the installation's secret keys.
//
// A key is 32 random bytes, a line of hexadecimal digits in one file, made at
// first start. From it HKDF (RFC 5869) derives one key a purpose, so that no use
// of one says anything about another: connection strings are encrypted with
// AES-256-GCM, heads of the log are signed with Ed25519, and the fingerprint
// tells keys apart without giving them away. What is sealed names its key, so
// that a wrong key is told from a damaged ciphertext.
//
// The file holds a Ring: its first line is the current key, which seals and
// signs; the others only open what was sealed under them. Rotate puts a new key
// in front, Retire removes the old ones. Running processes look at the file
// before each use of it, so they need not be told.
//
// Processes on several machines share one key file and one blob store, and
// nothing would say so for weeks if they did not. So CheckFingerprint and
// CheckKeys keep in the database what the first process had, and every later
// one compares. The database also keeps every key's fingerprint, public half and
// dates: heads that a key signed can be checked after it is gone, and a process
// that missed a rotation is told what to do.
//
// # Own marks
//
// A mark is an HMAC-SHA-256 that the program puts on what it builds or takes in (Ring.Mark):
// on a report that is ready, on an assessment. Its key is derived from the secret key, so
// whoever has the database alone can append an event and cannot mark it, and no signature is
// given for an event without its mark. A mark says that the program wrote something, not that
// it is true, and only this installation can check it. The text that is marked names the
// organization and the subject, so that a mark copied to another event is false there.
//
// Marks under every key of the ring count. Of a key that Retire removes, the mark key alone
// is kept, sealed under the current key, with how far each log went: an event behind that
// place needs a mark under another key. A thief with a retired key marks nothing new.
//
// Events from before marks have none. BeginMarks notes how far each log went, and when, at the
// first start of a program that makes marks, sealed in the row "begun" and in a file beside the key
// file, or in the data directory where nothing can be written there (secret.key.marks, no
// secret). Each note has a number, and the highest of row, file and memory counts. So a row that SQL deletes, damages or sets back is put right at the next
// start, and changes nothing in a process that runs. No note at all: no event is from before.
//
// In an upgrade replica by replica, programs from before write events without a mark while
// this one runs. As long as one is connected (internal/postgres.OlderPrograms), an event
// without a mark may be theirs. The note is closed when the last has gone, and after a day by
// our own clock: a connection that calls itself an old program would hold it open. Until then
// SQL alone gets no more than it gets from the old program itself. People who go back to the
// program of before and upgrade again say so to this one (AcceptUnmarked, muster keys accept-unmarked).
//
// What may go wrong with marks:
//   - A backup is restored that is older than the note: the rows of its time are in it, the
//     file beside the key may say more. The later note counts, cut to how far the restored log
//     goes: what is appended from then on bears marks. Restored on another machine, the row
//     alone counts. A backup from before marks has no row: where there is no file either,
//     the start after it is a first start.
//   - A backup is restored from before a key was retired, beside a key file from after: marks
//     under that key are false until the key's line is put back into the file.
//   - The file is lost with its directory, as of a container without a volume: then whoever
//     deletes the row and has every process restarted makes all events up to then events
//     from before. Checkpoints that left the house show what was appended meanwhile.
//   - The file is garbled, or names another installation than the database: that is said, and it
//     is written anew. Where the row is gone, too, no event is from before: SQL could change the
//     installation's id and delete the row.
//   - A process marks under a key while that is rotated and retired: see handlers, which
//     makes a mark and appends in one transaction that the rotation waits for (HoldKeys).
//   - A process runs with a key file from before a rotation: it judges no marks (Ring.Outdated),
//     and leaves reports and assessments to others, instead of calling theirs altered.
//   - A row of a retired key is deleted: its marks are false. Nothing is vouched for by mistake.
//
// # Failures
//
// What may go wrong:
//   - Two processes make the key at once: each writes its own file aside and
//     links it into place; the link of the second fails and it reads the first's.
//   - A process dies, or the disk is full, while a key is written: a file
//     aside is left over, with a name that is never read. The key file itself is
//     as it was, or as it is to be.
//   - The file is readable by everybody, cut short, or a directory: refused with
//     a sentence; a new key is never made over something that is there.
//   - The file is lost, or one of several machines never had it: the next start is
//     refused by the database's fingerprint (RequireKeys), before it makes a new key
//     or changes the schema. What was sealed stays sealed.
//   - A rotation dies before it has replaced the file: nothing has happened.
//     After it, before its transaction commits: the new key seals already, the
//     old one opens the rest, and the next rotation finishes this one instead of
//     making another key. A retirement dies before it has replaced the file: the
//     old keys are still there and nothing needs them; run it again.
//   - Two rotate at once: the row of the current key makes them take turns, so
//     there are two new keys, one after the other, and none is lost. One that
//     goes on after its connection died is kept from the file by a lock.
//   - A process elsewhere has a copy of the file from before the rotation, or an
//     orchestrator hands the file in, so that it cannot be replaced: what then
//     works, and what is to be done, says docs/runbooks/rotate-keys.md. What is
//     sealed under a retired key is refused by the database
//     (installation_keys.retired_at) instead of lost. Where not even a lock can be
//     made beside the file, none is needed.
//   - Root rotates first and the service's user then: the new file and its lock
//     are their owner's.
//   - A change of keys cannot be recorded, or dies between record and commit: the
//     first is not done, of the second there is an entry too many.
package secrets
