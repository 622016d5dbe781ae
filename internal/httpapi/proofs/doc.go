// Package proofs serves evidence for people who trust neither the server nor its database:
// the public keys of the installation, and the logs' Merkle trees in the form of C2SP's
// tlog-tiles, which other programs read.
//
// A tile has hashes and an entry bundle has leaves, 40 bytes each; no content of an event
// is in either. Still they say how many events there were and when, of all organizations
// together, so a reader signs in unless the operator says otherwise
// (MUSTER_PROOF_PUBLIC).
//
// # What may go wrong
//
//   - Somebody asks for a tile that the last checkpoint does not cover: 404, also where the
//     events are there. What was never signed may not be relied upon.
//   - The log was changed behind what was signed: tiles are given as they are kept, and do
//     not fit the checkpoint. That is for the reader to see.
//   - The kept checkpoint was changed: internal_error, and the log says what it is.
package proofs
