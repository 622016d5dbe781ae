// Package checkpoint signs what the logs are: a checkpoint says that a log's Merkle tree
// (package eventstore/tree) over its first so many events has this root. It is a C2SP
// signed note, so that programs of others read and cosign it.
//
// It is a room of its own and not one of eventstore, which knows neither keys nor the
// forms in which proofs leave the house (package attest).
//
// # How one is made
//
// Maker.Makes gives a kept checkpoint that covers a position, or makes one over the whole
// log. Processes take turns by an advisory lock, and make at most one a second and log:
// who comes too early waits, and then mostly finds what another has made meanwhile. It is
// signed by every key of the ring, so that a rotation has an overlap; the current key's
// signature is added to a kept checkpoint that lacks it.
//
// Before anything is signed, two are held against the tree: the last one that was kept,
// and the last one that this process has signed itself, which it has in memory. A tree
// that is smaller than either, or does not begin with it, is refused: *RefusedError.
// Appending an event costs nothing here.
//
// # Witnesses
//
// Witnesses are asked to cosign each new checkpoint (C2SP tlog-witness), from where they
// have seen the log. What they sign is added to the kept note. No checkpoint waits for them.
//
// # What may go wrong
//
//   - Somebody rewrites the log under a running process and computes chain, tree and kept
//     checkpoints anew: the process still knows what it has signed, and signs nothing any
//     more until it is started again. It logs an error a minute, and counts them in
//     muster_checkpoints_refused_total.
//   - Somebody does so while nothing runs, and every kept checkpoint after the change is
//     gone, too: the next process signs the new history. Only a checkpoint that was kept
//     elsewhere (a proof, a witness, somebody's file) does not fit then.
//   - A kept row is swapped for another: its note has to say what the row says, and what
//     the tree has. Notes that no key of the ring has signed are not handed out.
//   - A backup is restored, and the log goes on from there: the checkpoints are of the
//     same moment as the events, so new ones are made. Witnesses that have seen more
//     refuse for ever, rightly: what they have seen is lost.
//   - A copy of the installation is served beside it: both sign, under one origin, and a
//     witness that both ask takes whichever it hears first.
//   - A witness is away, hangs, or answers what is not its signature over this checkpoint
//     of about now: a warning, and it is asked again within a minute. It has seen another
//     history: an error, for somebody has rewritten the log, or shows two.
//   - A checkpoint follows another before a witness was asked: it cosigns the later one
//     only, which covers the earlier.
//   - Two processes ask the same witness: its first signature is kept.
//   - A process dies before the commit: what it signed is nowhere. Its signature was never
//     handed out.
package checkpoint
