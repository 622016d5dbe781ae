// Package assessment keeps the connections to servers and their assessments.
//
// Store keeps the connection strings, sealed and bound to their row, the
// assessments (400 days of them, for the scorecard's history) and the last
// classification of each database. What is looked for is data in catalogue, feed
// and pii; postgresql does the looking, over the connections of package servers;
// internal/intake/collect decides when. What
// fails now, and since when, is kept by findings in the transaction of Record; how an
// assessment differs from the one before, and what it comes to, changes tells the log in
// the same transaction.
//
// What feeds send of instances without a connection (RecordSent) lies beside that in the
// same form, with the time that the sender tells: the latest is current, in whatever order
// they come, and the findings of an instance to which an earlier one comes are made anew.
//
// Which server answers for an instance (SeenServer) is kept beside that, as the server says on
// each new connection. RegisterServer refuses a second instance of one server, and Servers
// finds those that became known as one only later.
//
// A Claim is the right to look at one instance and record the outcome: a lease
// with a token, never an open transaction, for a look takes minutes.
//
// What may go wrong:
//
//   - A claimant dies: its lease runs out by the database's clock, and the
//     instance is due for anyone.
//   - A claimant is late: Record and Extend find another token, or none, and
//     return a *lease.LostError; nothing is kept, not even in part.
//   - Two claim at once: one row, one lock, SKIP LOCKED; each gets another.
//   - The connection is replaced during a look: the token is taken away, so that
//     what the old connection found is not recorded as the new one's.
//   - Two calls tell of the same instance: the second waits for the first. Of the same
//     time twice, the first stays.
//   - Two register one server at once: they take turns, and the second is refused.
//   - A server was started again since it answered last: it seems to be a copy of what it was
//     until it is asked, which package collect does before another is registered.
//   - The server is out of reach: the attempt and its reason are kept beside the
//     last good facts, which stay what Latest returns.
//   - A row is moved to another organization or instance by hand: it does not
//     open there.
//   - The secret key is lost: connections must be registered again; facts stay.
package assessment
