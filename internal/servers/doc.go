// Package servers connects to an organization's database servers, of any engine.
//
// Target is a server as its connection string names it, and Open the only way to it:
// nothing of the environment, passfile or service file of the machine Muster runs on
// decides where we connect, as whom, or with whose password. What it gives is a Session:
// it only reads, one statement after another, and its rows are text in every engine. An
// integer is decimal, a fraction has a dot; times, truths and bytes are whatever the
// query makes of them (microseconds since 1970, 0 or 1, hex), so that no driver's taste
// and no setting of the server decides.
//
// Nothing that a Session sets outlives one of its statements, because a pooler may give the
// connection to the watched application next. PostgreSQL gets its settings in the transaction of
// the statement, and no parameter when the connection starts; SQL Server within sp_executesql,
// which restores what was set before. Oracle has settings of sessions only; they end with the
// session, for we never ask for a pooled server. Where PostgreSQL names another process when
// it lets us in than the one that answers, somebody is between (Identify, Pooling). One that
// runs no transactions is refused.
//
// Identify asks a server who it is, so that one is known by whatever name it is reached, and
// told from its standbys and from another one behind the same name.
//
// What does not come about has a class and a sentence (ConnectionError); what a server
// refuses has its number and one of four reasons (Refusal). What answers is not quoted, for its
// text may hold data, a user or a password. The exception is why a PostgreSQL server ends a
// session or takes none (starting up, shutting down, full): these messages hold no data.
//
// Whoever may register a connection string makes Muster connect from where it
// runs, and learns from the class of a failure whether something listens there.
// That is for administrators of an organization only, and what they may reach is
// the installation's to say: a Reach. It refuses Unix sockets, looks a name up once
// for a connection, judges every address that comes back as what it leads to (one
// of IPv4 also where it is written as IPv6), and has only those dialled that it
// allows; the dialler judges the very address once more. A server that answers
// with the cluster's name of Muster's own database (OwnServer), or of a replica or
// copy of it, is left before anything of it is read. The one exception is what whoever
// runs Muster names himself (OwnTarget): the server of its demo, and the servers of an
// agent.
//
// SQL Server is spoken to by Microsoft's driver. It has no session that can only read: what
// keeps ours from writing is what it asks, and what its login may do. It has no deadline of
// its own either: it is told that nobody waits (an attention), and loses the connection
// where it does not confirm that. A server may send its clients to another one, as gateways
// and listeners do: that one is judged like the first, and may not send us on. The
// certificate is verified unless the connection string says otherwise.
//
// Oracle is spoken to by go-ora, version 2 (3.0 panics on the servers before 19c). It would
// have the machine's name and user sent along, wallets read and traces written, and waits for
// ever: it gets its configuration and its connection from us, and no text to parse. A
// listener may send its clients on, as those of clusters do: each address is judged like the
// first, four at most, and TLS is not lost on the way. A statement runs in a read-only
// transaction of its own and is interrupted on the server when its time is over; a session
// whose statement was interrupted or broke off is given up. TLS is off unless the connection
// string asks for it, as listeners are made without it.
//
// A query is a file in a folder sql/ beside the code that reads its rows. Its comment
// says which versions it serves, what it reads, and where its columns are documented; its
// first line is its own, for stubs and fakes know it by that.
//
// What may go wrong:
//
//   - A name leads elsewhere after it was registered: each connection looks it up,
//     and judges, anew.
//   - A target was registered before the settings excluded it: it stays listed with
//     the reason, and is not connected to.
//   - An administrator of a PostgreSQL server took pg_control_system from everybody: its
//     cluster's name cannot be read. Muster's own server is then known by the moment
//     it was started; a replica of it is not recognized there.
//   - A machine was cloned while its server ran: both say that they are the same, until one
//     is started again.
//   - A pooler names the process of a server as its own, or all of a pool is busy with
//     others: it is taken for the server, or for one that keeps sessions apart. What is set
//     ends with a transaction all the same.
//   - Something that is no database answers without end: its answer is cut off.
//   - What answers as a SQL Server claims a value of two gigabytes: the driver reserves
//     them, and reads what comes until our deadline. What it trusts beyond reason in a
//     greeting makes it panic, which counts as another protocol; within a session it
//     catches that itself.
//   - A login of SQL Server has a name or password with an emoji in it: the driver counts it
//     wrongly, which is made up for here. A test fails when the driver has learned to count.
//   - What answers as an Oracle makes go-ora panic: that counts as another protocol, or as a
//     lost connection. Without TLS a header that claims more than it may is refused before
//     the driver reserves what it says; what a message claims further in is believed, as is
//     how often a key is to be hashed in a login. Who may register servers can make Muster
//     work that way for one of their own.
//   - go-ora writes to the standard error what an Oracle warns of at a login (a password that
//     expires soon), and to the standard output the number of a query where the server sends
//     one. It cannot be told not to.
//   - The server hangs: each statement has a deadline on our side too, and the connection
//     is given up with it.
package servers
