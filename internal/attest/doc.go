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
// What a proof says of keys is for people and is never trusted.
//
// # A check
//
// A check is a list of steps in a fixed order. Each held, is broken, could not be told for
// want of something that was to be given, or was not asked for. One broken step
// contradicts the whole; else one that could not be told leaves it open. Every
// implementation (this one, the page of `muster verify --page`, scripts/check_report.sh)
// has the same steps under the same names, so that their answers can be compared.
//
// # What may go wrong
//
//   - A hostile file: a parser bounds what it reads, and gives *MalformedError.
//   - The keys were swapped where they are published: a check with keys that were kept
//     before cannot tell, and says which key it lacks; it never takes the proof's own.
//   - A key was stolen: its signatures hold. What was time-stamped or cosigned before the
//     theft can still be told from what was not.
//   - Keys are rotated between two signatures of one report: each is checked against its
//     own key, and retired keys stay published.
package attest
