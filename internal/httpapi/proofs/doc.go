// Package proofs serves evidence for people who trust neither the server nor its database: the
// public keys of the installation, and the logs' Merkle trees in the form of C2SP's tlog-tiles,
// which other programs read.
//
// A tile has hashes, and an entry bundle has leaves of 40 bytes each; neither has content of an
// event. They still show how many events there were and when, over all organizations. So a
// reader has to sign in unless the operator decides otherwise (MUSTER_PROOF_PUBLIC).
//
// # What may go wrong
//
//   - A reader requests a tile that the last checkpoint does not cover: 404, even if the events
//     exist. Nobody may rely on unsigned events.
//   - The log was changed behind its signatures: tiles are served as they are stored, and do not
//     match the checkpoint. The reader detects that.
//   - The stored checkpoint was changed: internal_error, and the log says why.
package proofs
