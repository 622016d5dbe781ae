// Package assessment stores the connections to servers, and the assessments of servers.
//
// Store keeps the connection strings (sealed, and bound to their row), the assessments of 400
// days for the scorecard's history, and the last classification of each database. The packages
// catalogue, feed and pii hold as data what an assessment checks. The package of each engine
// runs the checks, over the connections of package servers, and internal/intake/collect decides
// when. In the transaction of Record, package findings stores the current findings and since
// when each is open. In the same transaction, package changes compares the assessment with the
// previous one and records its result in the log.
//
// Assessments that feeds send of instances without a connection (RecordSent) are stored in the
// same form, with the sender's time. The one with the latest time is current, in whatever order
// they arrive. If an earlier one arrives later, the findings of its instance are computed anew.
//
// Store also records which server answers for an instance (SeenServer), as the server says on
// each new connection. RegisterServer refuses a second instance of one server. Servers finds
// instances that were recognized as one server only later.
//
// A Claim is the right to assess one instance and record the result. It is a lease with a token
// and never an open transaction, because an assessment takes minutes.
//
// What may go wrong:
//
//   - A claimant dies: its lease runs out by the database's clock, and the instance is due for
//     every process.
//   - A claimant is late: Record and Extend find another token, or none, and return a
//     *lease.LostError. Nothing is stored, not even in part.
//   - Two processes claim at once: one row, one lock, SKIP LOCKED; each gets another instance.
//   - The connection is replaced during an assessment: the token is taken away, so the result of
//     the old connection is not recorded for the new one.
//   - Two calls send the same instance: the second waits for the first. If both have the same
//     time, the first stays.
//   - Two members register one server at once: they take turns, and the second is refused.
//   - A server was restarted since it last answered: it seems to be a copy of its former self
//     until it is asked again. Package collect asks before another server is registered.
//   - The server cannot be reached: the attempt and its reason are stored beside the last good
//     facts, and Latest still returns those facts.
//   - Somebody moves a row to another organization or instance by hand: it cannot be opened
//     there.
//   - The secret key is lost: connections must be registered again. Facts stay.
package assessment
