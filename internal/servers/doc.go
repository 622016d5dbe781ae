// Package servers connects to an organization's database servers, of every engine.
//
// Target is a server as its connection string names it, and Open is the only way to connect to
// it. The environment, passfile or service file of Muster's machine never decides the host, the
// user or the password. Open returns a Session. It only reads, one statement after another, and
// its rows are text in every engine. An integer is decimal, and a fraction has a dot. Times,
// booleans and bytes have the form that the query gives them (microseconds since 1970, 0 or 1,
// hex). So neither a driver nor a setting of the server decides the form.
//
// No setting of a Session outlives one of its statements, because a pooler may give the
// connection to the monitored application next. PostgreSQL gets its settings in the transaction
// of the statement, and no parameter when the connection starts. SQL Server gets them within
// sp_executesql, which restores the previous settings. Oracle has settings of sessions only;
// they end with the session, because Muster never asks for a pooled server. If PostgreSQL names
// another process at sign-in than the one that answers, a pooler is in between (Identify,
// Pooling). A pooler without transactions is refused.
//
// Identify asks a server for its identity. So a server is recognized under every name, and told
// from its standbys and from another server behind the same name.
//
// A failed connection has a class and a sentence (ConnectionError). A refused statement has the
// server's error number and one of four reasons (Refusal). The server's text is not quoted,
// because it may contain data, a user or a password. There is one exception: the reason why a
// PostgreSQL server ends a session or accepts none (starting up, shutting down, full). These
// messages contain no data.
//
// A person who may register a connection string makes Muster connect from its own network, and
// learns from the class of a failure whether something listens there. Only administrators of an
// organization may do that, and the installation decides what they may reach: a Reach. It
// refuses Unix sockets and looks a name up once for each connection. It judges every returned
// address by its destination (an IPv4 address also if it is written as IPv6), and only allowed
// addresses are dialed. The dialer checks the very address once more. If a server answers with
// the cluster's name of Muster's own database (OwnServer), or of a replica or copy of it, the
// connection ends before anything is read. There is one exception: servers that the operator of
// Muster names (OwnTarget), which are the server of the demo and the servers of an agent.
//
// Microsoft's driver talks to SQL Server. SQL Server has no read-only session: Muster does not
// write because of its queries and the rights of its login. It has no deadline either: Muster
// sends it an attention, and closes the connection if the server does not confirm it. A server
// may redirect its clients to another one, as gateways and listeners do. That server is checked
// like the first, and may not redirect again. The certificate is verified unless the connection
// string says otherwise. An account of Windows answers an NTLMv2 challenge and no older one, because
// a password can be guessed from those. An application of Entra exchanges its secret for a token at an
// address that is in the code: what a server says of where to get one is not asked for.
//
// Several addresses of an Oracle are those of one database and its copies (Data Guard): a session is opened on the
// primary, and a wrong password is tried at one address. Package tns reads descriptors and wallets.
//
// go-ora version 2 talks to Oracle (3.0 panics on servers before 19c, and Oracle's own go-oracledb 26.0 dials
// addresses itself, past every check here: docs/engines.md compares them). By itself it would send
// the machine's name and user, read wallets, write traces, and wait forever. So Muster gives it
// its configuration and its connection, and no text to parse. A listener may redirect its
// clients, as those of clusters do. Each address is checked like the first, four at most, and
// TLS is not lost on the way. A statement that reads tables of somebody runs in a read-only transaction of its own. Each is
// interrupted on the server when its time is over. A session is given up after its statement was
// interrupted or broke off. TLS is off unless the connection string asks for it, because
// listeners are created without it.
//
// A list of values, such as SQL_IDs, goes to SQL Server and Oracle as parameters (Statement): a list of literals
// would be compiled anew each time, and stay in the cache that Muster measures. Each statement of Muster on Oracle
// begins with its name, by which the list of statements leaves it out; on SQL Server the settings do that.
//
// A query is a file in a folder sql/ beside the code that reads its rows. Its comment says which
// versions it serves, what it reads, and where its columns are documented. Its first line is
// unique, because stubs and fakes recognize it by that line.
//
// What may go wrong:
//
//   - A name leads elsewhere after it was registered: each connection looks it up and checks it
//     anew.
//   - A target was registered before the settings excluded it: it stays listed with the reason,
//     and Muster does not connect to it.
//   - An administrator of a PostgreSQL server revoked pg_control_system from everybody: its
//     cluster's name cannot be read. Muster's own server is then recognized by its start time; a
//     replica of it is not recognized there.
//   - A machine was cloned while its server ran: both report the same identity, until one is
//     restarted.
//   - A pooler reports the process of a server as its own, or all sessions of a pool are busy
//     with other clients: it is mistaken for the server, or for a pooler that keeps sessions
//     apart. Settings still end with a transaction.
//   - Something that is no database answers without end: its answer is cut off.
//   - Something that answers as a SQL Server claims a value of two gigabytes: the driver
//     reserves them, and reads until our deadline. An unreasonable value in a greeting makes it
//     panic, which counts as another protocol. Within a session it catches that itself.
//   - A login of SQL Server has a name or password with an emoji: the driver counts its length
//     wrongly, which is compensated here. A test fails when the driver has fixed that.
//   - Something that answers as an Oracle makes go-ora panic: that counts as another protocol,
//     or as a lost connection. Without TLS, a header that claims more than it may is refused
//     before the driver reserves it. Lengths further inside a message are believed, and so is
//     the number of hash rounds in a login. A person who may register servers can make Muster do
//     such work for one of their own.
//   - go-ora writes an Oracle's warning at a login (a password that expires soon) to the
//     standard error, and the number of a query, if the server sends one, to the standard
//     output. That cannot be switched off.
//   - The server hangs: each statement has a deadline on our side too, and the connection is
//     given up with it.
package servers
