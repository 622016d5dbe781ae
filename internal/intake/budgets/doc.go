// Package budgets limits what an organization's senders may use (API contract, §30): the bytes
// of bodies and the events of a day, and the open alerts. A token may use a share of each, by
// default a tenth.
//
// # What counts
//
//   - Bytes: the bodies of all calls under /ingest, after Content-Encoding is undone. They count
//     as soon as they are unpacked, whether the call is accepted or refused for another reason.
//     A call that is refused because of this budget costs nothing.
//   - Events: what calls under /ingest append to the logs, with fleets, alerts and assessments.
//     Actions of people and Muster's own observations are not counted and never refused.
//   - Open alerts: all open alerts of the organization, from every source. An alert belongs to
//     the token that raised it until it is closed by anybody. Muster's own alerts, and those
//     from before tokens were recorded, belong to no token.
//
// A day is a UTC day by the database's clock (postgres.Clock).
//
// # Which calls are refused
//
// A call is accepted or refused as a whole: a budget refuses a call that would exceed it. There
// is one exception. A message of more than 250 alerts from Prometheus' tools is written in parts
// (package agents): if a budget refuses a part, the answer says so, and the other parts are
// written.
//
// A call that exactly reaches a budget is accepted. Calls that only close alerts pass the limits
// of events and open alerts: events that close alerts are counted and not refused, and the limit
// of open alerts refuses only calls that leave more of them open than before. So the events of a
// day are bounded by the budget and the number of open alerts. The budget of bytes refuses these
// calls, too, because the content of a body is known only after unpacking.
//
// # How it counts
//
// Bytes and events are counted in memory and written to budget_use every two seconds (pace), by
// organization, day and token. The same write reads what other processes wrote. A call needs no
// statement, except the first of an organization in a while, which reads its rows. The
// transaction that opens or closes alerts counts the open ones (open_alerts): one row for the
// organization, and one for each token. Transactions that open or close alerts of one
// organization wait for each other there, as they would a moment later at the head of the log.
//
// # What may go wrong
//
//   - There are several processes: each knows what the others had accepted at its last look.
//     Together they may exceed a budget of a day by what all but one of them accept within two
//     seconds and the time of a write. Open alerts are exact.
//   - A process is killed: its counts of the last two seconds are lost.
//   - The answer to a commit is lost: the call's events are given back, and may have been
//     appended anyway. Then they are not counted.
//   - The database cannot be written to: calls fail anyway. The counts stay in memory and are
//     written later.
//   - Midnight: counts from before belong to the previous day, even if they are written
//     afterwards. A call belongs to the day on which its body was unpacked.
//   - A clock steps: the database's clock counts. If it goes back over midnight, the previous
//     day continues with its earlier counts: rows are kept for two days.
//   - Settings are changed: the new limits hold from the restart on, against the existing
//     counts.
//   - Processes have different settings: each refuses by its own.
//   - An organization is deleted: its rows are deleted with it. Counts that a process still
//     holds cannot be inserted and are dropped.
//   - An older program opens or closes alerts during an upgrade: Recount counts all of them anew
//     once a day, and soon after the first start.
package budgets
