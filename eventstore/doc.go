// Package eventstore appends to, reads and verifies the event logs.
//
// It knows bytes and type names, but no type of the domain. The program fills a Registry that
// connects the two.
//
// # The logs
//
// The logs reports, organization, fleet and keys each have a row in log_head, positions that
// start at 1 and have no gaps, and a hash chain. Order is promised within one log. There are
// several logs because appends to one log are serialized: in one shared log, a flood of alerts
// pushed report appends to 311 ms p95 on a disk with 4 ms commits. In separate logs, beside
// 5,000 events/s in the other log, they take 6.5 ms.
//
// # Append
//
// An append locks the head row of its log and holds the lock until the commit. So position order
// is commit order: a reader that repeats "position > x" misses no event and sees every stream in
// order. Everything that can be computed before the lock is: Go encodes and digests. One call of
// a database function then checks the versions, chains the hashes, writes all events and moves
// the head. A single append is one autocommitted statement, one round trip. AppendTx does the
// same inside the caller's transaction, and must be its last write.
//
// Two functions write appends: append_event writes one event without an external key, and
// append_events writes all others. One function would be enough, but it would cost more
// (BenchmarkAppendOfOne; 2 cores shared with other builds, PostgreSQL 15.18, 2026-11-22, at
// c843343, 3,000 calls of each in turn, medians). One event took 349 µs with append_event and
// 638 µs with append_events. A third function, which loops over the arrays, took 407 µs for one
// event. For batches of 100 and 1,000 events it took 1.8 and 1.6 times as long as append_events,
// which writes them in one statement. With only one of the functions, either the steps of a
// report or the batches of alerts would be slower.
//
// Tried and rejected:
//
//   - No lock: a reader lost 552 of 2,281 events.
//   - (xid, position) with the xmin horizon: it delivered version 2 before version 1, and
//     stalled on any open transaction.
//   - An advisory lock, with the previous hash read in the same statement: it forked the chain
//     13 times in 1,600 appends.
//
// The cost of the head row: 0.7 of the rate of a bare prepared insert with 1 client (0.6 through
// database/sql), and 0.1 with 32 clients that queue, as clients of several processes do
// (BenchmarkAppend; docs/performance.md).
//
// # No group commit
//
// Appends that wait for the head row could be written together. With 32 clients that queue, this
// reached 5 to 12 times the rate. It was built and removed, because nothing in Muster gained:
// commands decide and append in one transaction with AppendTx, and that transaction has other
// writes besides its append (docs/performance.md). An intake of 10,000 events is one append.
//
// # No NOTIFY
//
// The append functions do not NOTIFY. The commit of a transaction that notifies locks the whole
// database until the commit ends: three logs together fell from 597 to 219 appends/s on a disk
// with 4 ms commits. The process that commits wakes the readers afterwards (eventstore/topic). A
// reader that got no wake-up looks once a second. The one exception is a transaction that queues
// a job beside its events (handlers/jobs). It notifies because a person waits for the result of
// the job, and such transactions are rare. Events that come by the thousand (alerts, servers,
// steps of a build, the end of an attempt) queue no job.
//
// # External keys
//
// LockKeys locks the keys of a batch in sorted order, before the head row. It returns the
// stream, the version and the state digest of every known key, and the append updates them in
// the same transaction. So a batch of 10,000 that comes twice changes nothing the second time,
// and Muster neither loads a stream nor trusts a projection for that.
//
// # The chain
//
//	digest = SHA-256(envelope ‖ data ‖ metadata)          see Digest
//	hash   = SHA-256(previous hash ‖ digest ‖ recorded at) see Link
//
// The digest covers what the writer decided, and is computed before the lock. The log adds
// position, version and recorded time under the lock. Position and version follow from the place
// in the chain. The recorded time is part of the hash, because "as of" rests on it. (The design
// has hash = SHA-256(previous hash ‖ digest); with that, a changed recorded time would go
// unnoticed.) An organization can verify its own events while those of other organizations are
// opaque links: position, recorded time, digest and hash.
//
// A trigger on the table refuses UPDATE, DELETE and TRUNCATE. Only the owner of the table can
// remove the trigger. It stops mistakes, and accounts with the rights of a writer.
//
// A chain stored beside its own data proves little against the owner of the database, who can
// compute it anew. Hence the witness: a Head kept elsewhere. It is printed in every report and
// mail, and signed by SignHead.
//
// # Schema versions
//
// Events are read by later versions of the program than the one that wrote them. Upcasters are
// pure functions from the bytes of one schema version to the bytes of the next. Registry.Decode
// and Fold apply them. Reads, Verify and Export return the bytes as they were written. An event
// of a newer program is an *UnknownEventError.
//
// # What may go wrong
//
//   - The process dies before the commit: nothing is written, and no position is used up.
//     PostgreSQL releases the head row as soon as it sees the connection close. If the process
//     dies after the commit, the event is recorded. A retry gets a *ConflictError or finds, by
//     the external key, the state that it wanted.
//   - The machine vanishes without closing its connections: the head row stays locked. Appends
//     to that log fail after lock_timeout, until idle_in_transaction_session_timeout ends the
//     transaction. internal/postgres sets both timeouts on every pool; a pool without them can
//     stall a log forever.
//   - The answer to a commit is lost: the writer cannot know whether it succeeded. It loads the
//     stream, or sends the batch again with its keys.
//   - The head row of a log is locked for longer than lock_timeout: every append that waits for
//     it fails.
//   - Two writers append to one stream: one of them gets a *ConflictError with the current
//     version, and has written nothing. Its transaction is over.
//   - Two transactions call LockKeys twice each, or append to several logs in different orders:
//     they can deadlock, and PostgreSQL ends one of them with 40P01. Lock all keys at once, and
//     append in the order of Logs.
//   - The transaction is REPEATABLE READ: an append that waited ends with 40001. Use READ
//     COMMITTED.
//   - The clock steps back: recorded times stay the same until the clock has caught up; they
//     never fall. If the clock was once a year ahead, they stay the same for a year. The chain
//     stays whole, but "as of" cannot tell the events of that year apart. The clocks of the
//     processes matter for OccurredAt only.
//   - Several events have the same recorded time: the events of one append always do. "As of T"
//     includes an append as a whole or not at all.
//   - A transaction locks the head row and then commits slowly: its recorded time is earlier
//     than its commit. An "as of" that lies less than that delay in the past can still gain
//     events.
//   - Vacuum is held up for hours (by a forgotten transaction or a dump): the head rows collect
//     dead versions, and appends slow down until it ends.
//   - A restore from a backup sets the log back: positions are given out again. Only a witness
//     taken after the backup can show that.
package eventstore
