// Package commands is the write side: it carries out the requests of users and records the
// results of workers. A Service has all use cases. Those of people, reports and schedules are
// here, a file each. Those of the fleet and of alerts, which machines call by the thousand, are
// in the rooms inventory and alerting; notifying has those of channels and rules, and marks those
// of marks on charts. What all of them share is in usecase.
//
// A use case validates, decides and appends. It looks up what it needs through the small
// interfaces of Needs (Instances, Checks, Jobs), folds the streams concerned, lets the domain
// decide, and appends the resulting events, all in one transaction. The use cases of a build
// take the caller's transaction, because the build's job is finished in it.
//
// All writers lock in one order, so that they wait for each other instead of deadlocking:
//
//  1. A worker locks its own job (handlers). It learns first whether it still owns the job. Only
//     one other writer ever waits for such a row: the erasure of a member that queues the same
//     erasure of inputs. It holds nothing that the worker wants.
//  2. The stream of a schedule that is run.
//  3. The locks that grant entry: the claim of a report, the setup gate, an invitation, the
//     external keys of the fleet and of alerts.
//  4. The stream (usecase.LockStream).
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
// Errors: a *usecase.RuleError carries every broken rule of a request at once, with the codes of
// the API contract. A *usecase.NotFoundError is for ids that this organization does not have, even
// if another organization has them. *accounts.Refusal and the errors of the domain pass through.
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
//     again.
//   - A schedule is changed while it is run: the second to lock it decides anew. A change wakes
//     the schedule's job first, and waits for a worker that is recording at that moment. It does
//     not touch a job that a worker holds: that worker finds that the schedule has changed.
//   - The owner of a schedule leaves a team while it is run: the run goes by the teams that they
//     had when it was planned, a moment before its transaction. The next one goes by the new ones.
//   - The read models behind Instances lag: an instance registered a moment ago may be refused
//     once.
//   - The clocks of processes differ: the process that handles the request judges the window of
//     a report, its expiry, the limits per hour and the end of an alert. If two clocks differ by
//     a second, one process may close an alert a second early. The alert's next message, seen
//     after that end, raises it again.
package commands
