// Package eventstore appends to, reads and verifies the event logs.
//
// It knows bytes and type names and no type of the domain; a Registry that the
// program fills connects the two.
//
// # The logs
//
// reports, organization, fleet and keys each have a row in log_head, positions from 1
// without a gap, and a hash chain. Order is promised within a log. They are
// apart because appends to one log are serialised: in one shared log a flood of
// alerts pushed report appends to 311 ms p95 on a disk with 4 ms commits; apart,
// beside 5,000 events/s in the other log, they take 6.5 ms.
//
// # Append
//
// An append locks its log's head row and holds it to the commit. So position
// order is commit order: who reads "position > x" again and again skips nothing
// and sees no stream out of order. Everything that can be computed before is:
// Go encodes and digests, and one call of a function in the database checks the
// versions, chains the hashes, writes all events and moves the head. A lone
// append is one autocommitted statement, one round trip. AppendTx does the same
// inside a caller's transaction, and must be its last write.
//
// Two functions write a single append, append_event one event without an external key
// and append_events the rest. One would be enough but for its price
// (BenchmarkAppendOfOne; 2 cores shared with other builds, PostgreSQL 15.18,
// 2026-11-22, at c843343, 3,000 calls of each in turn, medians): one event took
// 349 µs by append_event and 638 by append_events. A function that takes the arrays
// and loops over them took 407 for one event, and for batches of 100 and 1,000 events
// 1.8 and 1.6 times as long as append_events, which writes them in one statement.
// Whichever is left alone, either a step of a report or a batch of alerts pays.
//
// Tried and rejected: no lock (lost 552 of 2,281 events to a reader),
// (xid, position) with the xmin horizon (delivered version 2 before 1, stalled
// on any open transaction), an advisory lock with the previous hash read in the
// same statement (forked the chain 13 times in 1,600 appends). The price of the
// head row: 0.7 of a bare prepared insert's rate with 1 client (0.6 through
// database/sql), 0.1 with 32 that queue, as those of several processes do
// (BenchmarkAppend; docs/performance.md).
//
// # No group commit
//
// Appends that wait for the head row could be written together: 5 to 12 times the rate of 32
// clients that queue. It was built and taken out, because nothing in Muster gained: commands
// decide and append in one transaction, by AppendTx, which has other writes beside its append
// (docs/performance.md). An intake of 10,000 is one append.
//
// # No NOTIFY
//
// The append functions do not NOTIFY. The commit of a transaction that notifies
// locks the whole database up to its end: three logs together fell from 597 to 219
// appends/s on a disk with 4 ms commits. Whoever commits wakes the readers
// afterwards (eventstore/topic), and a reader that nobody woke looks once a second.
// The one exception is a transaction that queues a job beside its events
// (handlers/jobs): it notifies, because a person waits for what a job makes, and it
// is rare. Whatever comes by the thousand (alerts, servers, steps of a build, an
// attempt that ends) queues none.
//
// # External keys
//
// LockKeys takes the keys of a batch in sorted order, before the head row, and
// returns stream, version and state digest of those that are known; the append
// updates them in the same transaction. So a batch of 10,000 that comes twice
// changes nothing, without loading a stream and without trusting a projection.
//
// # The chain
//
//	digest = SHA-256(envelope ‖ data ‖ metadata)          see Digest
//	hash   = SHA-256(previous hash ‖ digest ‖ recorded at) see Link
//
// The digest holds what the writer decided and is computed before the lock. The
// log adds position, version and recorded time under the lock. Position and
// version follow from the place in the chain; the recorded time, on which "as
// of" rests, is part of the hash. (The design has hash = SHA-256(previous hash ‖
// digest); then nobody would notice a changed recorded time.) One organization
// can verify its own events while those of others are opaque links: position,
// recorded time, digest and hash.
//
// The table refuses UPDATE, DELETE and TRUNCATE by a trigger, which only its owner can
// take away. That stops a slip of the hand and an account with the rights of a writer.
//
// A chain beside its own data proves little against whoever owns the database:
// they compute it anew. Hence the witness, a Head kept elsewhere: printed in
// every report and mail, and signed by SignHead.
//
// # Schema versions
//
// Events are read by later programs than wrote them. Upcasters are pure
// functions from one schema version's bytes to the next one's; Registry.Decode
// and Fold apply them. Reads, Verify and Export give the bytes as they were
// written. An event of a newer program is an *UnknownEventError.
//
// # What may go wrong
//
//   - The process dies before the commit: nothing is written, no position is
//     used up; PostgreSQL releases the head row as soon as it sees the
//     connection close. It dies after: the event is there, and whoever asks again
//     meets a *ConflictError or, by its key, the state it wanted.
//   - The machine vanishes without closing its connections: the head row stays
//     locked, and appends to that log fail after lock_timeout, until
//     idle_in_transaction_session_timeout ends the transaction. internal/postgres
//     sets both on every pool; a pool without them can stall a log for ever.
//   - The commit's answer is lost: the writer cannot know. It loads the stream,
//     or sends the batch again by its keys.
//   - A log's head row is locked for longer than lock_timeout: each append that
//     waits for it fails.
//   - Two writers append to one stream: one gets a *ConflictError with the
//     version there is now, and has written nothing. Its transaction is over.
//   - Two transactions lock keys twice each, or append to several logs in
//     different orders: they can deadlock, and PostgreSQL ends one with 40P01.
//     Lock all keys at once; append in the order of Logs.
//   - REPEATABLE READ: a waiting append ends with 40001. Use READ COMMITTED.
//   - The clock steps back: recorded times stand still until it has caught up,
//     they never fall. It was a year ahead once: they stand still for a year; the
//     chain stays whole, but "as of" cannot tell events of that year apart.
//     Clocks of the processes play no part but in OccurredAt.
//   - Several events have one recorded time: those of one append always do.
//     "As of T" takes an append whole or not at all.
//   - A transaction locks the head row and then commits slowly: its recorded time
//     lies before the commit. An "as of" of less than that ago can gain events.
//   - Vacuum is held up for hours (a forgotten transaction, a dump): the head
//     rows gather dead versions, and appends slow down until it ends.
//   - A restore from a backup sets the log back: positions are given again. A
//     witness taken since says so; nothing else can.
package eventstore
