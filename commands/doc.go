// Package commands is the write side: the requests of users, and the records of workers.
// Each subject has one file: the steps of a report's life, exceptions, instances, members,
// tokens.
//
// A use case validates, decides and appends. It looks up what it must know
// through the small interfaces of Service (Instances, Checks, Jobs), folds the
// streams concerned, lets the domain decide, and appends what it decided, all
// in one transaction. Use cases of a build's life take the transaction of their
// caller, because the job that they belong to is finished in it.
//
// Alerts come by the thousand and mostly say what is known. Beside the key of an
// alert stands its memento, from which the domain decides; so a batch costs a few
// statements and loads no stream, whatever is in it. Until when an open alert was
// seen is in alert_last_seen, where readers join it; the log follows once an hour
// and when the alert is closed, which deletes the row. Whoever writes about an
// alert, feed, machine, person or sweep, holds the lock of its key. The key leads
// to the newest alert under it; an older one is written without it. When a mute ends is
// in alert_mutes, too, in the transaction of the event that says so, for whoever sweeps.
//
// Everybody locks in one order, so that they wait instead of deadlocking:
//
//  1. a worker, its own job (handlers): it finds out first whether the job is
//     still its own, and the only one who ever waits for such a row is an erasure of
//     a member that queues the same erasure of inputs, which holds nothing that the
//     worker wants;
//  2. the stream of a schedule that is run;
//  3. what lets somebody in: the claim of a report, the setup gate, an invitation,
//     the external keys of the fleet and of alerts;
//  4. the stream (lockStream);
//  5. rows of accounts, of alert_last_seen and of alert_mutes, then of open_alerts (package
//     budgets), the organization's first;
//  6. jobs of others: the erasures that a member's erasure asks for, mails that it
//     hastens. New ones may come earlier, for nobody sees them before the commit;
//  7. last, by appending, the head of the log, of two in the order of eventstore.Logs.
//
// Should two meet in another order after all, PostgreSQL ends one of them and it
// begins again.
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
//     transaction of its own then decides again. Of alerts it then folds the
//     streams, for what stands beside their keys was left behind.
//   - A schedule is changed while it is run: whoever locks it second decides anew. Whoever
//     changes one wakes its job first, which waits for a worker that records just then, and
//     leaves alone one that a worker holds: that worker then finds the schedule changed.
//     Two that make schedules at once may pass the bound by one each.
//   - The read models that Instances asks lag: an instance registered a moment
//     ago may be refused once. Fleet commands trust no read model but the stream
//     keys.
//   - The same batch of alerts comes twice at once, to two processes: one waits for
//     the keys, and then finds everything as it says. A batch is one transaction, so
//     a process that dies leaves all of it or nothing, in alert_last_seen too.
//   - A resend races with a person: whoever comes second decides on what the first
//     did. A mute, an acknowledgement and a resolution hold in both orders; only a
//     feed that speaks of muting sets it.
//   - A sweep (EndFirings) races with a message, or with another sweep: each begins by
//     closing what has ended, so the first does and the others find it closed. A
//     message that sees the alert firing then raises the next one, from that end on.
//     A sweep that dies, or does not run, is made up for by the next one or by the next
//     message; until then an alert that has ended counts as open.
//   - Two sweeps find the same mute over (EndMutes), or a person unmutes or mutes the
//     alert right then: each holds the lock of its key, and who comes second finds no
//     row that is due. A mute ends at the first sweep after its time by the database's
//     clock; until then the alert counts nowhere.
//   - An alert is resolved while it is muted until a time: it stays muted until then,
//     and counts in the history from then on.
//   - An instance is removed while an alert about it comes in: the alert may still be
//     raised on it, as if it had come before.
//   - A release writes mementos that another does not know: that one folds the stream.
//   - A budget of the sender's is used up: the whole message is refused, and nothing of it is
//     written. A message that raises no alert and closes some always passes. The token that
//     raised an alert stands in its memento only: an alert that is folded again, because of a
//     memento of another release, is nobody's, and its token's count is right again when all
//     are counted anew.
//   - Clocks of processes differ: the window of a report, its expiry, the limits of an
//     hour and the end of an alert are judged by the clock of the process that is asked.
//     Of two that differ by a second, one may close an alert a second early; its next
//     message, seen after that end, raises it again.
package commands
