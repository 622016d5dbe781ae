// Package checkpoint signs the state of the logs, and verifies the logs while they are served. A
// checkpoint says that a log's Merkle tree (package eventstore/tree) over its first so many
// events has this root. It is a C2SP signed note, so that programs of others read and cosign
// it.
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
// Before a process signs a log for the first time, it holds the log's tree against everything
// that was signed of it and is known (Maker.Hold): every kept checkpoint, the checkpoint in
// every kept proof of a report, and the file beside the secret key. One root is computed for
// each size, in one pass over the tree: 10,000 sizes over 120,000 events take 0.8 s on two
// cores, half of it for tiles that were not kept yet. It runs beside the rest of the start, and
// signing waits for it. `muster verify` and `muster events verify` do the same.
//
// Before anything is signed, the last kept checkpoint, the last that this process has signed or
// verified, and the file's are held against the tree. A tree that is smaller than one of them,
// or does not begin with it, is refused: *RefusedError. The events since the last one that was
// kept are verified from data to digest to hash, and a log in which the verifier or Hold found
// something is refused: *UnfitError. Appending an event costs nothing here.
//
// # The file beside the secret key
//
// SQL does not reach it: secret.key.signed-reports is the last checkpoint that a process of this
// machine signed or saw signed, byte for byte, and one for each other log. It is replaced in one
// step after the commit, and is the key's owner's, also where root signs (secrets.KeepBeside).
// Where nothing can be written beside the key (an orchestrator hands it in), it lies in the data
// directory. Every process that signs reads it first.
//
//   - Processes of one machine share it: the largest size stays, whoever writes last.
//   - Machines that do not share the directory have a file each, as old as the last checkpoint
//     that a process of theirs made or found. A machine without the role workers has none.
//   - It is missing: a new one is written with the next checkpoint. Until then there is only
//     what the database keeps.
//   - It is older than the log: the log has to begin with it.
//   - It is newer than the log, or of another history: nothing is signed, with its name in the
//     sentence. `muster restore --accept-findings` moves it aside, as `….given-up`; on other
//     machines, or after a restore by other means, an operator who knows why does.
//   - It is damaged, or of another installation that had the key before: nothing is signed.
//   - It can be written nowhere: a warning, once; the process has what it signed in memory.
//   - Two restores of one backup share the directory and go on: the second that signs finds the
//     first's state in the file and signs nothing, at once or, where both write in the same
//     moment, with the next checkpoint. Where they do not share it only witnesses tell, and
//     whoever compares what both signed.
//   - Somebody who can write the file can remove it. They can read the key, too.
//
// # The verifier
//
// Verifier.Step verifies a log a step further, a step a minute for all processes together: at
// least 20,480 events, and a 240th of a long log, so that a pass takes four hours at most. After
// a stop of more than a day it is a 30th, and the pass begins anew. A row of log_verifications
// says how far the pass is, and whose the next step is: it is claimed for two minutes under a
// fence. The end of the log, and what did not fit before, are looked at in every step. The code
// is that of `muster events verify` (eventstore.VerifyOn, tree).
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
//   - Somebody does so while nothing runs: a kept checkpoint or proof from after the change does
//     not fit, or the file beside the key. Where all of these are gone, the next process signs the
//     new history. Only a checkpoint that was kept elsewhere (a witness, somebody's file) does not
//     fit then.
//   - Somebody changes an event, and nothing behind it: the tree is over digests, so the root
//     stays. The verifier finds it within a pass, and before that the maker where no
//     checkpoint covers the event yet.
//   - A backup of a changed log is restored and accepted (`muster restore --accept-findings`):
//     Verifier.Accept keeps what does not fit, and the maker continues to sign the log. What is
//     changed after that is told.
//   - Events are deleted, and that is accepted: the maker continues to sign the log if the tree
//     keeps their hashes, which it does in tiles of 256 events once they are full. A deleted
//     event that is in no full tile leaves nothing of which a root could be computed, so the log
//     stays unsigned. No leaf is made up for it: the tree would differ from what was signed
//     before.
//   - Somebody sets log_verifications back: the next pass finds it all again.
//   - A process dies amid a step: the next one is made two minutes later, by any process.
//   - A kept row is swapped for another: its note has to say what the row says, and what
//     the tree has. Notes that no key of the ring has signed are not handed out.
//   - A backup is restored, and the log goes on from there: the checkpoints are of the
//     same moment as the events, so new ones are made. Witnesses that have seen more
//     refuse for ever, rightly: what they have seen is lost.
//   - A copy of the installation is served beside it: both sign, under one origin, and a
//     witness that both ask takes whichever it hears first.
//   - A witness is away, hangs, or answers what is not its signature over this checkpoint
//     of about now: a warning, and it is asked again within a minute. It has seen another
//     history: an error, for somebody has rewritten the log, or shows two; the
//     process is degraded (Witnesses.Check) until that witness cosigns that log.
//   - A checkpoint follows another before a witness was asked: it cosigns the later one
//     only, which covers the earlier.
//   - Two processes ask the same witness: its first signature is kept. One that the other has
//     overtaken shows the witness the last checkpoint instead of reading a refusal.
//   - A process dies before the commit: what it signed is nowhere. Its signature was never
//     handed out.
package checkpoint
