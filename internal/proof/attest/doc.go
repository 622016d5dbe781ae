// Package attest proves a report to a third party who has only the PDF and the public keys of the
// installation. It does no I/O and reads no clock.
//
// # What proves what
//
// A Proof (proof.json) carries the complete event report.ready. A check computes its digest
// again, and its hash with that of the previous event. So nobody can claim what the event does
// not say: the SHA-256 of the PDF and of its inputs, and when it was recorded. The event is in a
// Merkle tree over the log (package eventstore/tree; inclusion). The root of the tree is in a
// checkpoint that the installation signed (a C2SP signed note), and that others may have
// cosigned and time-stamped. A second signature, the Attestation, covers what the event does not
// say: kind and scope.
//
// The verifier brings Trust: the public keys, and the time stamp authorities and witnesses that
// they trust. Statements about keys in a proof are for people and are never trusted.
// Keys.Fingerprint names a document of keys, for people who compare it with the one that reports
// and mails print. No check compares it, because a forger of a report prints the fingerprint of
// their own keys.
//
// # A check
//
// A check is a list of steps in a fixed order. Each step holds, is broken, cannot be told
// because an input is missing, or was not requested. One broken step contradicts the whole;
// otherwise one step that cannot be told leaves it open. Every implementation (this one, the
// page of `muster verify --page`, scripts/check_report.sh) has the same steps under the same
// names, so their answers can be compared.
//
// # Times
//
// A key has a lifetime (Key.Lived). A record from before it began, or from after the key was
// retired, is a contradiction. Signatures from before a key was retired or revoked count only if
// a time stamp or a witness shows that they are older, because anybody who has an old key can
// sign any date. A key may sign up to ten minutes before it is published: keys can be changed
// between Ready and its signature. Of two signatures under one tree, the better one counts.
//
// The times of one report lie within a day of each other (Skew): its recorded time, the time at
// which it happened, the PDF's signature by its own statement, and the first trusted time stamp
// or witness. The report must not come from the future of the verifier (Trust.Now; this package
// reads no clock).
//
// # What may go wrong
//
//   - A file is hostile: parsers limit what they read, and return *MalformedError.
//   - The keys were swapped where they are published: a check with keys that were kept earlier
//     cannot tell, and names the key that it lacks. It never uses the proof's own keys.
//   - A key was stolen: its signatures hold until it is revoked. Reports that were time-stamped
//     or cosigned before the theft can still be told from others.
//   - A key is retired, and there is no time stamp and no witness: with a document of keys from
//     after the retirement, nobody can tell any more. With one from before, the report holds.
//   - A witness comes back after days and signs an earlier tree: its signature is left out of a
//     proof (CosignedBy), as are time stamps that come more than a day late.
//   - Keys are rotated between two signatures of one report: each is checked against its own
//     key, and retired keys stay published.
package attest
