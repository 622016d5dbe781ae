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
