// Package clickhouse stores blocks of measurements in ClickHouse, for installations that outgrew
// PostgreSQL, which stays the ledger in front of it (package blocks).
//
// # Where a block is
//
// A series is on one shard, chosen by a digest of its organization, kind and subject, modulo the
// shards' weights. Muster talks to the shards' servers directly, and finds them in
// system.clusters. So results need no merging by a server, a Put is acknowledged by the server
// that stores it, and a shard that is away blocks no other. The engine Distributed makes the
// same tables one, for people and their tools. The layout of a cluster is recorded on each
// server. A Store refuses a cluster to which a shard was added since, because the blocks did not
// move.
//
// Each table of blocks is a ReplacingMergeTree on every server, sorted by series and start, and
// partitioned by time so that Forget drops whole partitions. A kind that is forgotten before the
// others (blocks.Apart) has tables of its own. If a shard has replicas, the table
// is replicated, and an insert is acknowledged when all replicas have it, so any of them may be
// read afterwards. While one is away, new blocks stay in the head. There is an alternative: each
// Put that does without a replica would record that in the ledger, each read would look it up
// there, and wait when the replica is back (SYSTEM SYNC REPLICA). insert_quorum is no
// alternative: a replica without the last part answers as if it had it.
//
// # Revisions
//
// A block is never changed. A block with a greater revision is put beside it, and an empty one
// removes it. Readers use the greatest revision; ClickHouse drops the others when it merges. The
// ledger assigns revisions. They are the microseconds of its clock if that is ahead of the last
// one, so a ledger that was restored from a backup continues above those that it forgot. Each
// server is compared with the ledger once; if the server is still ahead, the ledger is raised. A
// Put that was given up and arrives later has a smaller revision than the one after it. Nothing
// relies on ClickHouse's own deduplication of inserts, and there are no materialized views.
//
// # Statements
//
// Samples and details of statements are columns, which the servers add up themselves
// (SumStatements): so a day of 1,000 instances is an answer of 14 MB, and not 340 MB of bodies.
// Times are Float64, as senders send them, and not whole microseconds. The stored values are
// exact. Sums may differ in their last bits from one query to the next, because they are added
// in any order.
//
// # Versions
//
// Debian's 18.16.1 passed the whole suite of stores: on one server, on two shards, and on two
// shards of two replicas. The engine of 26.7, as chDB, passed the statements and their answers,
// on one node, called as a library. Connections to a current server were not tried, because none
// was available.
//
// # What may go wrong, and what then happens
//
//   - A server cannot be reached, has no time, disk or memory left, or refuses Muster's account:
//     *blocks.UnavailableError, with its host. Each call returns the data of the other shards
//     before this error.
//   - A server does not answer (its host drops packets, its process hangs): the first caller
//     waits for the time limit of a statement, or 2 s to connect. Later callers get the error at
//     once, until the server answers; it is asked once a second (silence.go).
//   - A process dies within Put, or the answer is lost: some blocks are stored and some are not.
//     The hour is still in the head, and is put again with a greater revision.
//   - Power fails: servers from 20.10 on have written what they acknowledged. Older ones leave
//     that to the kernel. Then another replica has it, or the acknowledged data of the last
//     seconds is lost.
//   - A server is older than 18.16, its cluster has another layout, or a table was changed by
//     hand or made by a newer Muster: the store does not open, and says which and why.
//   - The ledger was restored from an older backup: blocks of series that it lacks are not
//     shown. No blocks appear under another series, because they are identified by organization,
//     kind and subject. A series that is sent again has its blocks back. A late sample of an
//     hour that the ledger lost replaces the block's data. The log says that the ledger is
//     older.
//   - An organization is deleted: its rows are deleted by a mutation, which rewrites the parts
//     that held them. The deletion waits for it on every replica. A replica that is away makes
//     that fail, and the caller has to repeat it. Just after a replica was killed, it takes
//     longer by ZooKeeper's session timeout, if the replica was the shard's leader: nothing is
//     deleted without a leader.
//   - The pool of the ledger has no connection left, because callers of Put hold all of them:
//     they wait for each other until the read limit. Pass in a pool with room.
package clickhouse
