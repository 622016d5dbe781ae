// Package checkpoint signs the state of the logs, and verifies the logs while they are in use. A
// checkpoint states the root of a log's Merkle tree (package eventstore/tree) over its first n
// events. It is a C2SP signed note, so other programs can read and cosign it.
//
// It is a package of its own, because eventstore knows neither keys nor the forms in which
// proofs leave Muster (package attest).
//
// # How a checkpoint is made
//
// Maker.Makes returns a stored checkpoint that covers a position, or makes one over the whole
// log. Processes take turns by an advisory lock, and make at most one checkpoint a second for
// each log. A caller that comes too early waits, and then usually finds one that another process
// has made. Every key of the ring signs it, so a rotation has an overlap. If a stored checkpoint
// lacks the signature of the current key, it is added.
//
// Before a process signs a log for the first time, it compares the log's tree with everything
// known to have been signed of it (Maker.Hold): every stored checkpoint, the checkpoint in every
// stored proof of a report, and the file beside the secret key. It computes one root for each
// size, in one pass over the tree: 10,000 sizes over 120,000 events take 0.8 s on two cores,
// half of it for tiles that were not stored yet. This runs beside the rest of the start, and
// signing waits for it. `muster verify` and `muster events verify` do the same.
//
// Before every signature, the tree is compared with the last stored checkpoint, with the last
// one that this process signed or verified, and with the one in the file. A tree that is smaller
// than one of them, or does not begin with it, is refused: *RefusedError. The events since the
// last stored checkpoint are verified from data to digest to hash. A log in which the verifier
// or Hold found a fault is refused: *UnfitError. Appending an event costs nothing extra.
//
// # The file beside the secret key
//
// SQL cannot reach this file. secret.key.signed-reports is the last checkpoint that a process of
// this machine signed or saw signed, byte for byte. Each other log has such a file, too. A file
// is replaced in one step after the commit. It belongs to the key's owner, even if root signs
// (secrets.KeepBeside). If nothing can be written beside the key, because an orchestrator
// provides it, the file is in the data directory. Every process that signs reads it first.
//
//   - Processes of one machine share the file: the largest size stays, in whatever order they
//     write.
//   - Machines that do not share the directory have a file each. It is as old as the last
//     checkpoint that one of their processes made or found. A machine without the role workers
//     has none.
//   - The file is missing: the next checkpoint writes a new one. Until then, only the database's
//     copy remains.
//   - The file is older than the log: the log has to begin with it.
//   - The file is newer than the log, or of another history: nothing is signed, and the error
//     names the file. `muster restore --accept-findings` moves it aside, as `….given-up`. On
//     other machines, or after another kind of restore, an operator who knows the reason does
//     that.
//   - The file is damaged, or belongs to another installation that had the key before: nothing
//     is signed.
//   - The file cannot be written anywhere: a warning, once. The process remembers what it
//     signed.
//   - Two restores of one backup share the directory and go on: the second to sign finds the
//     first's state in the file and signs nothing. If both write at the same moment, it finds it
//     with the next checkpoint. If they do not share the directory, only witnesses reveal it, or
//     a person who compares what both signed.
//   - A person who can write the file can remove it. That person can read the key, too.
//
// # The verifier
//
// Verifier.Step verifies a log one step further. All processes together make one step a minute:
// at least 20,480 events, and one 240th of a long log, so a pass takes four hours at most. After
// a stop of more than a day it is one 30th, and the pass begins anew. A row of log_verifications
// records the progress of the pass and the owner of the next step, which is claimed for two
// minutes under a fence. Every step also checks the end of the log and all earlier findings. The
// code is that of `muster events verify` (eventstore.VerifyOn, tree).
//
// # Witnesses
//
// Witnesses are asked to cosign each new checkpoint (C2SP tlog-witness), starting from the last
// size that they have seen. Their signatures are added to the stored note. No checkpoint waits
// for them.
//
// # What may go wrong
//
//   - Somebody rewrites the log under a running process, and computes chain, tree and stored
//     checkpoints anew: the process still knows what it signed, and signs nothing more until it
//     is restarted. It logs an error a minute, and counts them in
//     muster_checkpoints_refused_total.
//   - Somebody does the same while no process runs: a stored checkpoint or proof from after the
//     change does not match, or the file beside the key does not. If all of these are gone, the
//     next process signs the new history. Only a checkpoint that was kept elsewhere (by a
//     witness, or as a file) reveals it then.
//   - Somebody changes an event and nothing after it: the tree is over digests, so the root
//     stays the same. The verifier finds the change within one pass. If no checkpoint covers the
//     event yet, the maker finds it first.
//   - A backup of a changed log is restored and accepted (`muster restore --accept-findings`):
//     Verifier.Accept records the findings, and the maker continues to sign the log. Later
//     changes are reported.
//   - Events are deleted, and that is accepted: the maker continues to sign the log if the tree
//     has their hashes, which it stores in tiles of 256 events once they are full. For a deleted
//     event outside a full tile, no root can be computed, so the log stays unsigned. No leaf is
//     invented for it: the tree would differ from what was signed before.
//   - Somebody sets log_verifications back: the next pass finds everything again.
//   - A process dies during a step: any process repeats the step two minutes later.
//   - A stored row is swapped for another: its note has to match the row and the tree. Notes
//     that no key of the ring has signed are not handed out.
//   - A backup is restored, and the log goes on from there: checkpoints and events are of the
//     same moment, so new checkpoints are made. Witnesses that have seen more refuse forever,
//     and rightly: the events that they have seen are lost.
//   - A copy of the installation is served beside it: both sign under one origin, and a witness
//     that both ask accepts whichever it hears first.
//   - A witness is away, hangs, or returns something else than its current signature over this
//     checkpoint: a warning, and it is asked again within a minute. If it has seen another
//     history, that is an error: somebody has rewritten the log, or shows two versions. The
//     process is degraded (Witnesses.Check) until that witness cosigns that log.
//   - A second checkpoint is made before a witness was asked about the first: it cosigns the
//     later one only, which covers the earlier.
//   - Two processes ask the same witness: its first signature is stored. A process that the
//     other has overtaken shows the witness the last checkpoint instead of recording a refusal.
//   - A process dies before the commit: its checkpoint is stored nowhere, and its signature was
//     never handed out.
package checkpoint
