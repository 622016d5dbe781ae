// Package failover gives tests a PostgreSQL primary with a synchronous standby, which takes over
// when the primary dies.
//
// Start uses Debian's pg_auto_failover: a monitor notices that the primary is away and promotes
// the standby, as in an installation, but it is configured to decide within seconds. Plain needs
// only PostgreSQL's own package and no monitor: Kill itself promotes. A Pair is either of them,
// and its user does not need to know which. In both, a commit is answered once the standby has
// it on its disk, unless the test requests an Asynchronous pair.
//
//	pair := failover.Plain(t)
//	url := pair.URL("postgres")
//	… // a commit that was answered
//	failed := pair.Kill(t)
//	… // is there, at most so long after failed.Promoted
//	pair.Return(t)
//
// pg_auto_failover promotes a standby read-only and lets it write once the old primary has had
// its time to drain, so Failover has both times.
//
// What may go wrong: the test binary is killed. A shell that waits for its end kills what was
// started, as for pgtest's other servers. For that purpose the nodes and their keepers are
// process groups. A killed node leaves a System V semaphore of its keeper behind, 1 of 32,000,
// until it is restarted.
package failover
