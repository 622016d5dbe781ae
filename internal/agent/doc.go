// Package agent measures and assesses database servers from beside them, and sends what it
// finds to a Muster that cannot reach them.
//
// # How it works
//
// An Agent has the collectors that serve has: package measure in a goroutine a server, the
// inspectors of package assessment every six hours, and ownhost for the machine. What serve
// keeps in its database the agent keeps in a file of its directory (store), in the form in
// which the server takes it (POST /ingest/v1/…), until the server has it.
//
// Measurements and facts are told apart. Measurements are bounded: beyond that the oldest
// go, and are counted. Facts (an instance with its databases, an assessment) are never
// dropped; one that the server refuses is laid aside and tried again every hour. They are
// sent in the order in which they were kept, so that the server knows an instance before
// what was measured of it, and several in one call.
//
// The list of statements that the next one is compared with is kept in the transaction that
// keeps the deltas: an interval is in the file with the list that ends it, or neither is.
// Sent twice, a sample counts once, for the server knows it by its place and time.
//
// The file is bbolt's: a transaction is there or not whenever the process ends, and one
// process at a time has it open. Segments of our own were thought of and would have had to
// have both.
//
// # What may go wrong, and what then happens
//
//   - The agent is killed at any line: what was kept is sent by the next one, what was sent
//     and not deleted is sent again, and statements go on from the kept list for ten minutes.
//   - The server is away, answers nonsense, refuses the token: all is kept; it is tried again
//     after a second, then ever later, up to a minute. What it asks for by Retry-After counts.
//     Only the answer that it gives to such a call is one: a page with 200, a redirect and a
//     refusal without a code of its own are another's.
//   - A budget of the organization or the token is used up (429 budget_exhausted): all is kept
//     and waits as long as the server asks for, an hour at most before it is tried again. If it
//     is the budget of events, only facts wait, and measurements go on.
//   - The server was away for three days: it seals nothing for six hours, in which the file
//     is sent (package pgstore).
//   - The disk is full: the oldest measurements go, a sixteenth at a time, until there is room
//     for what is new, and no more are kept than then for an hour. Where there are none to go
//     it is lost, and the statements' next interval is longer. To delete takes room, too, for
//     which a megabyte is set aside in a file of its own.
//   - The disk has lost a record: it is counted (damaged) and passed over.
//   - The agent is started twice: the second ends with *InUseError. Its directory is copied to
//     another machine: there it is another sender, for it is known by the machine's name, too.
//   - Another sender holds the statements of an instance: ours wait for ten minutes, for it may
//     be gone, and are then dropped and counted, those that are as old. Whoever takes over is not counted twice
//     (package pgstore).
//   - The instance is registered by DSN: its sessions and statements are dropped and counted,
//     and the assessments lie aside, until the connection is taken away.
//   - The server does not know an instance: it is announced again. Who removed it there has to
//     take it out of the configuration, too. What was measured of it waits for ten minutes
//     from when that was first said, as it does where a token is limited to other instances;
//     what was measured of its host is sent without naming it.
//   - The token is limited to instances, and the server calls one otherwise, or has it on another
//     host, than the configuration says: it is announced as the server has it, with our databases.
//   - The server is older than the agent, and measurements have members that it does not know:
//     they wait until it is upgraded, as far as the file has room, and the log says so.
//   - A fact is refused: an instance is announced anew as soon as there is anything new to say
//     of it, and each announcement says all, so that an old one never undoes a newer one.
//   - A database has a name that the fleet does not take (it ends a line, say): it is left
//     out, with what was found in it, and the others are not.
//   - This machine's clock is off by more than a minute: the server's time is used, as its
//     answers tell it. Before the first answer ours counts; a sample of the future waits until
//     it is not.
//   - A password is changed: secrets are read whenever a connection is opened.
//   - One server hangs: it delays itself alone, as in serve.
package agent
