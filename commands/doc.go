// Package commands is the write side: one file for each thing that somebody may
// ask of Muster, or that a worker has to record.
//
// A use case validates, decides and appends. It looks up what it must know
// through the small interfaces of Service (Instances, Checks, Members), folds the
// streams concerned, lets the domain decide, and appends what it decided, all
// in one transaction. Use cases of a build's life take the transaction of their
// caller, because the job that they belong to is finished in it.
//
// Everybody locks in one order, so that they wait instead of deadlocking: what
// lets somebody in (the claim of a report, the setup gate, an invitation, the
// external keys of the fleet), the stream (lockStream), jobs and rows of
// accounts, and last, by appending, the head of the log. Should two meet in
// another order after all, PostgreSQL ends one of them and it begins again.
//
// Errors: *RuleError carries every broken rule of a request at once, with
// contract codes; *NotFoundError is for ids that this organization does not
// have, whoever else has them; *accounts.Refusal and the domain's own errors
// pass through.
//
// What may go wrong, and what then happens:
//
//   - The process dies at any line: the transaction ends with it. There is no
//     claim without a Queued or Building request, no request without its build
//     job, no member without their event, and nothing to clean up.
//   - Identical requests at the same time: the first to insert the claim
//     creates, the others wait for its commit and join the request. A request
//     that becomes Ready releases its claim in the transaction of Ready, so a
//     caller either joins before and is mailed, or creates a new one.
//   - A member is erased while a report that names them becomes Ready: both lock
//     the member's row. Whoever comes second sees the other, and queues the
//     erasure of the report's inputs.
//   - Two administrators change the settings that both of them saw: the second
//     one's digest is of settings that are no longer in force, and is refused.
//   - The same message comes twice: the aggregate knows the fact, the use case
//     appends nothing and returns a Mark at position 0, which every projection
//     has passed.
//   - Two processes write the same stream: one waits for the other. Somebody who
//     wrote past the lock makes a *eventstore.ConflictError; a use case with a
//     transaction of its own then decides again.
//   - The read models that Instances asks lag: an instance registered a moment
//     ago may be refused once. Fleet commands trust no read model but the stream
//     keys.
//   - Clocks of processes differ: the window of a report, its expiry and the
//     limits of an hour are judged by the clock of the process that is asked.
package commands
