// Package secrets keeps the installation's secret key.
//
// The key is 32 random bytes in one file, made at first start. From it HKDF
// (RFC 5869) derives one key a purpose, so that no use of one says anything
// about another: connection strings are encrypted with AES-256-GCM, heads of the
// log are signed with Ed25519, and the fingerprint tells keys apart without
// giving them away. What is sealed names its key, so that a wrong key is told
// from a damaged ciphertext.
//
// Processes on several machines share one key file and one blob store, and
// nothing would say so for weeks if they did not. So CheckFingerprint keeps in
// the database what the first process had, and every later one compares.
//
// What may go wrong:
//   - Two processes make the key at once: each writes its own file aside and
//     links it into place; the link of the second fails and it reads the first's.
//   - A process dies, or the disk is full, while the key is written: a file
//     aside is left over, with a name that is never read. The key itself is
//     whole or absent.
//   - The file is readable by everybody, cut short, or a directory: refused with
//     a sentence; a new key is never made over something that is there.
//   - The file is lost: what was sealed stays sealed. The next start makes a new
//     key and is refused by the database's fingerprint, before anything is
//     sealed under the wrong one.
package secrets
