// Package attest proves a report to a stranger: with the PDF, an installation's public
// keys and nothing else of it. It does no I/O and reads no clock.
//
// # What is proven by what
//
// A Proof (proof.json) carries the event report.ready whole. Its digest, and its hash with
// that of the event before it, are computed again, so nobody can claim what the event does
// not say: the SHA-256 of the PDF and of its inputs, and when it was recorded. The event
// is in a Merkle tree over the log (package eventstore/tree; inclusion), whose root stands
// in a checkpoint that the installation signed (C2SP signed note) and others may have
// cosigned and time-stamped. A second signature, the Attestation, binds what the event does
// not say: kind and scope.
//
// Who checks brings Trust: the keys, and of other clocks and witnesses whom they believe.
// What a proof says of keys is for people and is never trusted. Keys.Fingerprint names a
// document of keys, for people who compare it with what reports and mails print. No check
// compares it: who forges a report prints the fingerprint of keys of their own.
//
// # A check
//
// A check is a list of steps in a fixed order. Each held, is broken, could not be told for
// want of something that was to be given, or was not asked for. One broken step
// contradicts the whole; else one that could not be told leaves it open. Every
// implementation (this one, the page of `muster verify --page`, scripts/check_report.sh)
// has the same steps under the same names, so that their answers can be compared.
//
// # Times
//
// A key has a lifetime (Key.Lived). What was recorded before it was there, or after it was
// retired, contradicts; what it signed before it was retired or revoked counts only where a
// time stamp or a witness shows that it is older, for whoever has an old key can sign any
// date. A key may sign up to ten minutes before it is published: keys can be changed between
// Ready and its signature. Of two signatures under one tree the better counts.
//
// Times of one report lie within a day of each other (Skew): recorded, happened, the PDF's
// signature by its own word, the first time stamp or witness that is trusted. The report is
// also not from the future of who checks (Trust.Now; nobody here looks at a clock).
//
// # What may go wrong
//
//   - A hostile file: a parser bounds what it reads, and gives *MalformedError.
//   - The keys were swapped where they are published: a check with keys that were kept
//     before cannot tell, and says which key it lacks; it never takes the proof's own.
//   - A key was stolen: its signatures hold until it is revoked. What was time-stamped or
//     cosigned before the theft can still be told from what was not.
//   - A key is retired, and there is no time stamp and no witness: with a document of keys
//     from after that, nobody can tell any more; with one from before, it holds.
//   - A witness comes back after days and signs a tree of then: that is left out of a
//     proof (CosignedBy), as are time stamps that come later than a day.
//   - Keys are rotated between two signatures of one report: each is checked against its
//     own key, and retired keys stay published.
package attest
