// Package postgresql assesses a PostgreSQL server over SQL: it runs the check
// catalogue, lists privileged accounts, and classifies what columns hold.
//
// Assess opens one session on the database that the connection string names
// for everything that concerns the whole server, and a few at a time on the
// other databases. Every statement runs in a read-only transaction of its own
// that is never committed, with search_path pinned to pg_catalog, a statement
// timeout and a short lock timeout. Before a check runs, the server is asked
// whether it has what the check reads and lets the role read it (package
// catalogue says how); what is hidden is not assessed, never passed. Rules that
// no single query can decide (rules.go) judge what the sessions found.
//
// Remote logins are decided as the server would: the first matching HBA rule,
// tried for points that stand for every different case (hba.go). listen_addresses
// is left out of it on purpose: it is one restart away from anything else.
//
// Classify reads column names and, if allowed, at most 200 rows a table. Only
// columns of PostgreSQL's own types are sampled, only from tables, and with
// row_security off: casts, views and policies are somebody's code, and it would
// run with the monitoring role's rights.
//
// Who can read a table follows from its ACL, that of its schema and the memberships
// (readers.go): a role has by itself what it inherits, and after a SET ROLE what the other
// one has. A test asks the server of every role, as itself and as each that it can become.
// CONNECT, pg_hba.conf and what views and functions hand on are not part of it, and neither
// is what a role could grant itself.
//
// What may go wrong:
//
//   - The server hangs. Each statement has a deadline on our side too; past it
//     the session is dropped, and what was still to come is not assessed, timeout.
//   - A database refuses us: its checks are not assessed, database_unreachable,
//     the others go on.
//   - The look is not one instant: a check runs up to minutes after another.
//     An assessment therefore has a start and an end.
//   - The process dies: nothing was written anywhere; the server ends our
//     session by idle_in_transaction_session_timeout or when it next writes to it.
//   - A hostile server: rows are bounded by LIMIT where objects are listed, and
//     nothing of what it says in an error is kept.
package postgresql
