// Package clickhouse keeps blocks of measurements in ClickHouse, for installations that
// outgrew PostgreSQL, which stays the ledger in front of it (package blocks).
//
// # Where a block is
//
// A series is on one shard: that of a digest of its organization, kind and subject, modulo
// the shards' weights. Muster speaks to the shards' servers themselves, which it finds in
// system.clusters: nothing has to be put together, a Put is acknowledged by who keeps it,
// and a shard that is away keeps nobody from the others. The engine Distributed makes the
// same tables one for people and their tools. How a cluster was laid out is noted on each
// server; a Store refuses one to which a shard came since, because the blocks did not move.
//
// Each table of blocks is a ReplacingMergeTree of every server, sorted by series and start,
// partitioned by time so that Forget drops whole partitions. Where a shard has replicas it
// is a replicated one, and an insert is acknowledged when all replicas have it: any of them
// may be asked afterwards. While one is away, what is to be put stays in the head. That need
// not be so for ever: who is away would have to be noted in the ledger by each Put that does
// without it, looked up there by each read, and waited for when it is back (SYSTEM SYNC
// REPLICA). insert_quorum does not do: a replica without the last part answers as if it had it.
//
// # Revisions
//
// A block is never changed: another one with a greater revision is put beside it, an
// empty one where it is taken away. Readers count the greatest; ClickHouse drops the
// others when it merges. Revisions are given out by the ledger, and are microseconds of its
// clock where that is ahead of the last one: a ledger that was restored from a backup goes
// on above those that it forgot. Each server is compared with it once, and where the server
// is ahead all the same, the ledger is raised. A Put that was given up and arrives later
// has a smaller revision than the one after it. Nothing relies on ClickHouse finding out
// by itself that it has an insert already, and there are no materialized views.
//
// # Statements
//
// Samples and details of statements are columns, which servers add up themselves
// (SumStatements): a day of 1,000 instances is an answer of 14 MB so, and not 340 MB
// of bodies. Times are Float64, as senders send them, and not whole microseconds: what
// comes out is what went in, and sums may differ in their last bits from one time to the
// next, as they are added in any order.
//
// # Versions
//
// Debian's 18.16.1 met the whole suite of stores: on one server, on two shards, and on two
// shards of two replicas. The engine of 26.7, as chDB, met the statements and what they
// answer, on one node, called as a library: connections to a server of today were not tried,
// because no such server could be had.
//
// # What may go wrong, and what then happens
//
//   - A server cannot be reached, is out of time, of disk or of memory, or does not let
//     Muster in: *blocks.UnavailableError, with its host. Each hands out what the other
//     shards have before it says so.
//   - A server says nothing (its host drops packets, its process hangs): who asks it first
//     waits for the limit of a statement, 2 s to connect. Whoever comes after that is told at
//     once, until the server answers, of which it is asked once a second (silence.go).
//   - A process dies within Put, or the answer is lost: some blocks are kept, some are not.
//     The hour is still in the head, and is put again with a greater revision.
//   - Power fails: servers from 20.10 on have written what they acknowledged. Older ones
//     leave that to the kernel; then another replica has it, or what was acknowledged in
//     the last seconds is lost.
//   - A server is older than 18.16, its cluster is laid out otherwise, a table was changed by
//     hand, or made by a newer Muster: it does not open, and says which and what.
//   - The ledger was restored from an older backup: what it lacks is not shown, and nobody
//     else's, as blocks are known by organization, kind and subject. A series that is sent
//     again has its blocks back. A late sample of an hour that the ledger lost takes the
//     place of what the block has. The log says that the ledger is older.
//   - An organization is deleted: rows go by a mutation, which rewrites what they were in
//     and is waited for, on every replica. A replica that is away makes that fail; whoever
//     deletes asks again. Just after a replica was killed it takes longer by what ZooKeeper
//     gives its session, if it was the shard's leader: without one nothing is deleted.
//   - The pool of the ledger has no connection left, because all are held by callers of Put:
//     they wait for each other until the read limit. Hand in a pool with room.
package clickhouse
