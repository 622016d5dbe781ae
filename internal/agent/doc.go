// Package agent measures and assesses database servers from a machine near them, and sends the
// results to a Muster that cannot reach them.
//
// # How it works
//
// An Agent has the collectors that serve has: package measure in one goroutine for each server,
// the inspectors of package assessment every six hours, and ownhost for the machine. Where serve
// uses its database, the agent uses a file in its directory (store). It keeps the data there in
// the form in which the server accepts it (POST /ingest/v1/…), until the server has it.
//
// Measurements and facts are handled differently. Measurements are bounded: beyond the limit the
// oldest are dropped and counted. Facts (an instance with its databases, an assessment) are
// never dropped. A fact that the server refuses is set aside and tried again every hour. Both
// are sent in the order in which they were stored, several in one call, so the server knows an
// instance before its measurements arrive.
//
// The list of statements, which is the basis of the next comparison, is stored in the
// transaction that stores the deltas. So the file has an interval together with the list that
// ends it, or neither. A sample that is sent twice counts once, because the server knows it by
// its place and time.
//
// The file is a bbolt database: a transaction is complete or absent whenever the process ends,
// and only one process at a time has the file open. Our own segment files were considered, and
// would have needed both properties.
//
// # What may go wrong, and what then happens
//
//   - The agent is killed at any line: the next one sends the stored data. Data that was sent
//     and not yet deleted is sent again. Statements continue from the stored list for ten
//     minutes.
//   - The server is away, answers nonsense, or refuses the token: all data is kept. The agent
//     tries again after a second, then less and less often, up to once a minute. A Retry-After
//     of the server counts. Only an answer in the form of this API counts as the server's: a
//     page with 200, a redirect, or a refusal without a code of the API comes from something
//     else.
//   - A budget of the organization or the token is used up (429 budget_exhausted): all data is
//     kept and waits as long as the server asks for, and an hour at most. If it is the budget of
//     events, only facts wait, and measurements go on.
//   - The server was away for three days: it seals nothing for six hours, in which the file is
//     sent (package pgstore).
//   - The disk is full: the oldest measurements are deleted, a sixteenth at a time, until there
//     is room for new ones. For an hour, no more are kept than at that moment. If there is
//     nothing left to delete, new data is lost, and the next interval of statements is longer.
//     Deleting takes room, too; a separate file of one megabyte is reserved for it.
//   - The disk has lost a record: it is counted (damaged) and skipped.
//   - The agent is started twice: the second ends with *InUseError. Its directory is copied to
//     another machine: there it is another sender, because the sender's id includes the
//     machine's name.
//   - Another sender holds the statements of an instance: the agent's statements wait for ten
//     minutes, because the other may be gone. Then those that are as old are dropped and
//     counted. If this agent takes over, nothing is counted twice (package pgstore).
//   - The instance is registered by DSN: its sessions and statements are dropped and counted,
//     and its assessments are set aside until the connection is removed.
//   - The server does not know an instance: the agent announces it again. Whoever removed it on
//     the server also has to remove it from the agent's configuration. Its measurements wait for
//     ten minutes from the first refusal, as they do if a token is limited to other instances.
//     Measurements of its host are sent without naming the instance.
//   - The token is limited to instances, and the server has one under another name or on another
//     host than the agent's configuration: the agent announces it as the server has it, with the
//     databases that the agent found.
//   - The server is older than the agent, and measurements have members that it does not know:
//     they wait until it is upgraded, as far as the file has room, and the log says so.
//   - A fact is refused: the instance is announced again as soon as there is anything new about
//     it. Each announcement is complete, so an old one never undoes a newer one.
//   - A database has a name that the fleet does not accept (with a line break, for example): the
//     database and its results are left out, and the others are sent.
//   - This machine's clock is off by more than a minute: the agent uses the server's time, taken
//     from its answers. Before the first answer the agent's own clock counts; a sample with a
//     future time waits until that time has come.
//   - A password is changed: secrets are read each time a connection is opened.
//   - One server hangs: it delays only itself, as in serve.
package agent
