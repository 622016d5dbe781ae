// Package commands is the write side: it carries out the requests of users and records the
// results of workers. Each subject has one file: the steps of a report's life, exceptions,
// instances, members, tokens.
//
// A use case validates, decides and appends. It looks up what it needs through the small
// interfaces of Service (Instances, Checks, Jobs), folds the streams concerned, lets the domain
// decide, and appends the resulting events, all in one transaction. The use cases of a build
// take the caller's transaction, because the build's job is finished in it.
//
// Alerts come by the thousand, and most messages repeat what is known. The memento of an alert
// is stored beside its key, and the domain decides from it. So a batch of any size costs a few
// statements and loads no stream. The time at which an open alert was last seen is in
// alert_last_seen, where readers join it. The log gets that time once an hour and when the alert
// is closed, which deletes the row. Every writer of an alert (feed, machine, person or sweep)
// holds the lock of its key. The key leads to the newest alert under it; older alerts are
// written without the key. The end of a mute is also in alert_mutes, for the sweep, and is
// written in the transaction of the event that sets it.
//
// All writers lock in one order, so that they wait for each other instead of deadlocking:
//
//  1. A worker locks its own job (handlers). It learns first whether it still owns the job. Only
//     one other writer ever waits for such a row: the erasure of a member that queues the same
//     erasure of inputs. It holds nothing that the worker wants.
//  2. The stream of a schedule that is run.
//  3. The locks that grant entry: the claim of a report, the setup gate, an invitation, the
//     external keys of the fleet and of alerts.
//  4. The stream (lockStream).
//  5. Rows of accounts, of alert_last_seen and of alert_mutes, then of open_alerts (package
//     budgets), with the organization's row first.
//  6. Jobs of others: the erasures that the erasure of a member needs, and mails that it
//     reschedules. New jobs may be inserted earlier, because nobody sees them before the commit.
//  7. The head of the log, last, by appending. Two logs are taken in the order of
//     eventstore.Logs.
//
// If two transactions still lock in different orders, PostgreSQL ends one of them and it starts
// again.
//
// Errors: a *RuleError carries every broken rule of a request at once, with the codes of the API
// contract. A *NotFoundError is for ids that this organization does not have, even if another
// organization has them. *accounts.Refusal and the errors of the domain pass through.
//
// What may go wrong, and what then happens:
//
//   - The process dies at any line: its transaction ends with it. There is no claim without a
//     Queued or Building request, no request without its build job, no member without the
//     member's event, and nothing to clean up.
//   - Identical requests come at the same time: the first to insert the claim creates the
//     report. The others wait for its commit and join the request. A request that becomes Ready
//     releases its claim in the transaction of Ready. So a caller either joins before and is
//     mailed, or creates a new request.
//   - A member is erased while a report that names them becomes Ready: both lock the member's
//     row. The second one sees the first, and queues the erasure of the report's inputs.
//   - Two administrators change the same settings: the digest that the second one sends is of
//     settings that are no longer in force, and the change is refused.
//   - The same message comes twice: the aggregate knows the fact, and the use case appends
//     nothing. It returns a Mark at position 0, which every projection has passed.
//   - Two processes write the same stream: one waits for the other. A writer that bypasses the
//     lock causes a *eventstore.ConflictError; a use case with its own transaction then decides
//     again. For alerts it then folds the streams, because the stored mementos are out of date.
//   - A schedule is changed while it is run: the second to lock it decides anew. A change wakes
//     the schedule's job first, and waits for a worker that is recording at that moment. It does
//     not touch a job that a worker holds: that worker finds that the schedule has changed. Two
//     members who create schedules at once may each exceed the limit by one.
//   - The read models behind Instances lag: an instance registered a moment ago may be refused
//     once. Commands of the fleet trust only the stream keys, and no read model.
//   - The same batch of alerts comes twice at once, to two processes: one waits for the keys and
//     then finds every alert as the batch describes it. A batch is one transaction. If its
//     process dies, all of the batch is recorded or nothing, in alert_last_seen, too.
//   - A repeated message races with a person: the second decides on the result of the first. A
//     mute, an acknowledgement and a resolution hold in both orders. Only a feed whose messages
//     mention muting can set it.
//   - A sweep (EndFirings) races with a message or with another sweep: each begins by closing
//     alerts that have ended. So the first closes them and the others find them closed. A
//     message that still sees the alert firing then raises the next one, which starts at that
//     end. If a sweep dies or does not run, the next sweep or message makes up for it; until
//     then an alert that has ended counts as open.
//   - Two sweeps find the same mute over (EndMutes), or a person mutes or unmutes the alert at
//     that moment: each holds the lock of its key, and the second finds no row that is due. A
//     mute ends at the first sweep after its time by the database's clock. Until then the alert
//     counts nowhere.
//   - An alert is resolved while it is muted until a given time: it stays muted until then, and
//     counts in the history from then on.
//   - An instance is removed while an alert about it comes in: the alert may still be raised on
//     it, as if it had come before the removal.
//   - A release writes mementos that another release does not know: the other release folds the
//     stream.
//   - A sender's budget is used up: the whole message is refused, and none of it is written. A
//     message that raises no alert and closes some always passes. Only the memento says which
//     token raised an alert. If an alert is folded again, because its memento is of another
//     release, it belongs to no token; the token's count is right again after the next full
//     count.
//   - The clocks of processes differ: the process that handles the request judges the window of
//     a report, its expiry, the limits per hour and the end of an alert. If two clocks differ by
//     a second, one process may close an alert a second early. The alert's next message, seen
//     after that end, raises it again.
package commands
