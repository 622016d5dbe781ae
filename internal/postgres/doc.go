// Package postgres gives Muster its database: a private PostgreSQL server where
// none was named, pools on either, and the schema.
//
// # The private server
//
// Open makes a cluster below the data directory, or finds it there, and starts
// it with the programs of the major version it was made with. The files:
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
// The server listens on a unix socket only. A socket's path must fit into 107
// bytes, so it lies in a short directory below /tmp that only the server's user
// may enter. Everybody signs in with a password (SCRAM), whoever they are on
// the machine: an administrator's `trust` or `peer` would be a finding in our
// own reports. Roles: postgres owns the server, muster owns its database and
// nothing else, muster_monitor reads statistics: those of statements too where
// pg_stat_statements is installed, from database postgres.
//
// PostgreSQL refuses to run as root, so as root it runs as user postgres, as nobody
// where there is no such user, or as whoever owns the cluster. Where that user cannot reach the data directory (a
// clone below a 0700 home), home is /var/lib/muster/<hash of the data directory>.
//
// Processes share the server: whoever comes first starts it, whoever leaves
// last stops it, which the kernel's file locks tell without anybody counting.
//
// What may go wrong:
//   - Killed, all of a sudden: the kernel drops the locks, the server stays. The
//     next process finds it alive and adopts it, and stops it when it leaves.
//   - Everything killed, or the power cut: postmaster.pid is stale. The next
//     start recovers from the write-ahead log; fsync is on. A process which has
//     got the dead server's number meanwhile is told from it by its command line.
//   - Killed while the cluster is made: it is made aside and renamed when whole.
//     Roles and database are looked after at every start, so a death between
//     two of them is mended by the next.
//   - Two start at once: start.lock makes them take turns, and the second finds
//     a running server. Two `serve`: one gets serve.lock, the other is told.
//   - The server dies under us: Supervise starts it again.
//   - The programs of the cluster's major version are gone (the system was
//     upgraded): *ClusterVersionError names the package and the way on.
//   - systemd sends SIGTERM to the server too, which then admits nobody while we
//     finish our work: such a unit needs KillMode=mixed.
//
// # Pools and schema
//
// Connect's pools give up a lock after ten seconds and let the server end a
// transaction that lies idle for eight. A server that fell silent is given up after ten
// seconds (giveUpSilence), one that has become a standby at the first write that it
// refuses (serves), and of several hosts each has three seconds to answer (Bounded). Clock
// is the database's, by which processes on any machines judge alike.
//
// Migrate runs under an advisory lock of the session: replicas that start together wait
// for the one that migrates, and if it dies its session ends, the lock with it, and the
// next goes on behind the last migration that committed.
//
// A migration says in its head who may run beside it (Step), so that replicas are upgraded
// one by one, and back: an Expand leaves programs from before what they need, and they
// start on it; a Contract takes that away, and waits for Finish or for the next upgrade;
// anything else is for this program and later ones. Neither of the latter is taken while a
// program from before is connected (requireNoOlder). The table of what was applied says so
// to programs that are older than this rule, too (versions).
//
// # Dumps
//
// Dump and Restore run PostgreSQL's own programs: pg_dump on a snapshot that the
// caller has exported, pg_restore in one transaction. They are chosen by the
// server's major version, of which or a later one they must be. Passwords go
// to them by the environment, never as an argument.
package postgres
