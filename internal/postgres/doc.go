// Package postgres gives Muster its database: a private PostgreSQL server if none is configured,
// connection pools, and the schema.
//
// # The private server
//
// Open creates a cluster below the data directory, or finds it there, and starts it with the
// programs of the major version with which it was created. The files:
//
//	<data>/postgres/            home: ours, closed to everybody else
//	    data/                   the cluster, with its logs of a week in data/log
//	    secret                  what all passwords are derived from (0600)
//	    serve.lock              held by the one `muster serve`, holds its process id
//	    users.lock              shared by every process that uses the server
//	    start.lock              held while somebody looks, starts or stops
//	    sockets                 names the socket directory
//	<data>/postgres.location    where home is, if it is not there
//
// The server listens on a Unix socket only. A socket's path must fit into 107 bytes, so it is in
// a short directory below /tmp that only the server's user may enter. Every user of the machine
// needs a password (SCRAM): an administrator's `trust` or `peer` would be a finding in our own
// reports. There are three roles. postgres owns the server. muster owns its database and nothing
// else. muster_monitor reads statistics, from database postgres, and those of statements too if
// pg_stat_statements is installed.
//
// PostgreSQL refuses to run as root. As root, Muster therefore runs it as user postgres, as
// nobody if there is no such user, or as the owner of the cluster. If that user cannot reach the
// data directory (a clone below a 0700 home), home is /var/lib/muster/<hash of the data
// directory>.
//
// Processes share the server: the first process starts it, and the last one to leave stops it.
// The kernel's file locks show which is which, so nobody has to count.
//
// What may go wrong:
//
//   - A process is killed suddenly: the kernel drops its locks, and the server stays. The next
//     process finds it alive, adopts it, and stops it when it leaves.
//   - Everything is killed, or the power fails: postmaster.pid is stale. The next start recovers
//     from the write-ahead log; fsync is on. If another process has the dead server's process id
//     meanwhile, its command line shows that.
//   - A process is killed while it creates the cluster: the cluster is created aside and renamed
//     when complete. Roles and database are checked at every start, so the next start repairs a
//     death between two of them.
//   - Two processes start at once: start.lock makes them take turns, and the second finds a
//     running server. Of two `serve`, one gets serve.lock, and the other gets an error.
//   - The server dies while it is in use: Supervise starts it again.
//   - The programs of the cluster's major version are gone (the system was upgraded):
//     *ClusterVersionError names the package and the remedy.
//   - systemd sends SIGTERM to the server too, which then accepts no connections while Muster
//     finishes its work: such a unit needs KillMode=mixed.
//
// # Pools and schema
//
// Connect's pools open one connection after the other if statements come at the same moment
// (sparing). They give up a lock after ten seconds and let the server end a transaction that is
// idle for eight. A silent server is given up after ten seconds (giveUpSilence). A server that
// has become a standby is given up at the first write that it refuses (serves). Of several
// hosts, each has three seconds to answer (Bounded). Clock is the database's clock, by which
// processes on all machines judge alike.
//
// Migrate runs under an advisory lock of the session: replicas that start together wait for the
// one that migrates. If it dies, its session ends and the lock with it, and the next one
// continues after the last migration that committed.
//
// The head of a migration says which programs may run beside it (Step), so replicas can be
// upgraded one by one, and back. An Expand leaves earlier programs what they need, and they can
// start on it. A Contract removes that, and waits for Finish or for the next upgrade. Any other
// migration is for this program and later ones. The latter two are not applied while an earlier
// program is connected (requireNoOlder). The table of applied migrations tells this to programs
// that are older than the rule, too (versions).
//
// # Dumps
//
// Dump and Restore run PostgreSQL's own programs: pg_dump on a snapshot that the caller has
// exported, and pg_restore in one transaction. They must be of the server's major version or a
// later one. Passwords are passed to them in the environment, never as an argument.
package postgres
