// Package assessment keeps how servers are reached and what was last seen there.
//
// Target is a server as its connection string names it, and Connect the only
// way to it: nothing of the environment, passfile or service file of the machine
// Muster runs on decides where we connect, as whom, or with whose password.
// Store keeps the connection strings, sealed and bound to their row, the
// assessments (400 days of them, for the scorecard's history) and the last
// classification of each database. What is looked for is data in catalogue, feed
// and pii; postgresql does the looking; internal/intake/collect decides when. What
// fails now, and since when, is kept by findings in the transaction of Record; how an
// assessment differs from the one before, and what it comes to, changes tells the log in
// the same transaction.
//
// What feeds send of instances without a connection (RecordSent) lies beside that in the
// same form, with the time that the sender tells: the latest is current, in whatever order
// they come, and the findings of an instance to which an earlier one comes are made anew.
//
// A Claim is the right to look at one instance and record the outcome: a lease
// with a token, never an open transaction, for a look takes minutes.
//
// Whoever may register a connection string makes Muster connect from where it
// runs, and learns from the class of a failure whether something listens there.
// That is for administrators of an organization only, and what they may reach is
// the installation's to say: a Reach. It refuses Unix sockets, looks a name up once
// for a connection, judges every address that comes back as what it leads to (one
// of IPv4 also where it is written as IPv6), and has only those dialled that it
// allows; the dialler judges the very address once more. A server that answers
// with the cluster's name of Muster's own database (OwnServer), or of a replica or
// copy of it, is left before anything of it is read. The one exception is the
// server that the installation registers itself, for its demo (Credentials.Own).
// What answers is never quoted.
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
//   - The server is out of reach: the attempt and its reason are kept beside the
//     last good facts, which stay what Latest returns.
//   - A row is moved to another organization or instance by hand: it does not
//     open there.
//   - A name leads elsewhere after it was registered: each connection looks it up,
//     and judges, anew.
//   - A target was registered before the settings excluded it: it stays listed with
//     the reason, and is not connected to.
//   - An administrator of a server took pg_control_system from everybody: its
//     cluster's name cannot be read. Muster's own server is then known by the moment
//     it was started; a replica of it is not recognized there.
//   - Something that is no PostgreSQL answers without end: its answer is cut off.
//   - The secret key is lost: connections must be registered again; facts stay.
package assessment
