// Package replication keeps which server follows which one, how far standbys lag, and which
// replication slots hold log back.
//
// # How it works
//
// Once a minute a collector or an agent reads a State from a server (package measure): its role, who
// it follows, who follows it, slots and subscriptions. Record stores the newest State of each server,
// and compares it with the State before:
//
//   - The times since when a server, a standby or a slot is paused or broken are those of the first
//     State that says so, unless the server tells an earlier one.
//   - A standby that the server no longer lists stays in the State as gone, for seven days.
//   - A role that differs from the one before is a RoleChange: a failover or a promotion by hand.
//
// The lag and the retained bytes of a State are also samples of the server's series (measurements.LagOf).
// Of a standby they are its own, of another server those of the standby that is furthest behind.
//
// Stand says for the watch how the replication of a server stands: how far it or a standby of it lags,
// and what does not follow. What a watched standby does not follow is said of that one alone.
//
// Picture draws the servers of one system: a PostgreSQL cluster (system identifier), an availability
// group, or a Data Guard configuration (DBID). The two ends of a connection are paired by what both
// know, never by an address: PostgreSQL's receiver tells its application name and its slot, and so
// does the sender; SQL Server has ids of replicas; Oracle has DB_UNIQUE_NAME. Only if several senders
// list a receiver of that name does the port to which the receiver is connected decide. If that does
// not decide either, no line is drawn.
//
// # Lag
//
// No figure compares a clock of ours with a clock of a server. Package measure/postgresql says when
// the lag of a standby is known (replication_lag.go). A lag that is not known is nil, and not zero: of a
// standby that receives nothing, for instance.
//
// # What may go wrong
//
//   - States come late or twice: those that are not newer than the stored one only have their samples.
//   - A server is not looked at: its State is as old as its time says. Nobody becomes gone by that.
//   - Two primaries of one system: a failover without fencing, or a copy that was restored elsewhere.
//     Picture names both, because nothing that they tell decides which.
//   - A server was registered under another server's address: the system differs, so its role is not
//     compared.
//   - Names from servers have control characters or are long: they are cleaned and cut.
package replication
