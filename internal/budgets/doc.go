// Package budgets bounds what an organization's senders may use (contract, §30): the bytes of
// bodies and the events of a day, and the alerts that are open. A token may use a share of
// each, a tenth as a rule.
//
// # What counts
//
//   - Bytes: the bodies of all calls under /ingest, as they are after Content-Encoding. They
//     count as soon as they were unpacked, whether the call is taken or refused for another
//     reason. A call that is refused because of this budget costs nothing.
//   - Events: what calls under /ingest append to the logs, by fleets, alerts and assessments.
//     What people do, and what Muster sees by itself, is not counted and never refused.
//   - Open alerts: all of the organization, whoever raised them. An alert is its token's until
//     it is closed, whoever closes it. Muster's own and those from before tokens were
//     noted are of no token.
//
// A day is one of UTC by the database's clock (postgres.Clock).
//
// # Who is refused
//
// A call is taken whole or refused whole: a budget that would be exceeded by the call refuses
// it. Only a message of more than 250 alerts from Prometheus' tools is written in parts (package
// agents): if a budget refuses a part, the answer says so, and the other parts are written.
//
// A call that just reaches a budget is taken. Calls that only close alerts are taken at the
// bounds of events and open alerts: events that close alerts are counted and not refused, and
// the bound of open alerts refuses only calls that leave more of them open than there were. So
// the events of a day are bounded by the budget and the alerts that were open. The budget of
// bytes refuses these calls, too: what a body says is known only once it was unpacked.
//
// # How it counts
//
// Bytes and events are counted in memory and written to budget_use every two seconds (pace),
// by organization, day and token; what other processes wrote is read along. A call costs no
// statement but for the first of an organization in a while, which reads its rows. Open alerts are
// counted by the transaction that opens or closes them (open_alerts): a row of the
// organization, and one of each token. Transactions that open or close alerts of one
// organization wait for each other there, as they would an instant later at the head of
// the log.
//
// # What may go wrong
//
//   - Several processes: each knows what the others took in up to its last look. Together they
//     may exceed a budget of a day by what all but one of them take in within two seconds
//     and the time of a write. Open alerts are exact.
//   - A process is killed: what it counted in its last two seconds is not counted.
//   - The answer of a commit is lost: the call's events are given back, and may have been
//     appended all the same. Then they are not counted.
//   - The database cannot be written to: calls fail anyway; what was counted stays in memory
//     and is written later.
//   - Midnight: what was counted before belongs to the day before, also where it is written
//     afterwards. A call is of the day on which its body was unpacked.
//   - A clock steps: the database's counts. If it goes back over midnight, the day before
//     continues with what was used of it: rows are kept for two days.
//   - Settings are changed: they hold from the restart on, against what was used before.
//   - Processes have different settings: each refuses by its own.
//   - An organization is deleted: its rows go with it, and what a process has still counted
//     cannot be inserted and is dropped.
//   - A program from before opens or closes alerts during an upgrade: Recount counts all of
//     them anew once a day, and soon after the first start.
package budgets
