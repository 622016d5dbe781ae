// Package failover gives tests a PostgreSQL primary with a synchronous standby, of which
// the one can die and the other takes over.
//
// Start has Debian's pg_auto_failover do it: a monitor sees that the primary is away and
// has the standby promoted, as in an installation, only that it is told to make up its
// mind within seconds. Plain needs no package beyond PostgreSQL's own and no monitor: Kill
// itself promotes. A Pair is either, and who uses one need not know which. In both a
// commit is answered once the standby has it on its disk, unless the test asks for an
// Asynchronous pair.
//
//	pair := failover.Plain(t)
//	url := pair.URL("postgres")
//	… // a commit that was answered
//	failed := pair.Kill(t)
//	… // is there, at most so long after failed.Promoted
//	pair.Return(t)
//
// pg_auto_failover promotes a standby read-only and lets it write once the old primary has
// had its time to drain, so Failover tells both moments.
//
// What may go wrong: the test binary is killed. A shell that waits for its end kills what
// was started, as for pgtest's other servers; the nodes and their keepers are groups of
// processes for that. A node that is killed leaves a System V semaphore of its keeper
// behind, 1 of 32,000, until it is started again.
package failover
