// Package postgresql assesses a PostgreSQL server over SQL: it runs the checks of the catalog,
// lists privileged accounts, and classifies the contents of columns.
//
// Assess opens one session on the database that the connection string names, for everything that
// concerns the whole server, and a few sessions at a time on the other databases. Every
// statement runs in its own read-only transaction that is never committed, with search_path
// pinned to pg_catalog, a statement timeout and a short lock timeout. Before a check runs, the
// server is asked whether it has what the check reads and lets the role read it (package
// catalogue describes that). A check of hidden data is not assessed, and never passes. Rules
// that no single query can decide (rules.go) evaluate what the sessions found.
//
// Remote logins are decided as the server would decide them: by the first matching HBA rule,
// tried for points that represent every different case (hba.go). listen_addresses is left out on
// purpose, because one restart can change it.
//
// Classify reads column names and, if allowed, at most 200 rows of each table. It samples only
// columns of PostgreSQL's own types, only in tables, and with row_security off. Casts, views and
// policies are code of other people, which would run with the rights of the monitoring role.
//
// The ACL of a table, the ACL of its schema and the memberships decide who can read it
// (readers.go). A role has by itself the rights that it inherits, and after a SET ROLE the
// rights of the other role. A test asks the server about every role, as itself and as each role
// that it can become. CONNECT, pg_hba.conf, access through views and functions, and rights that
// a role could grant itself are not considered.
//
// What may go wrong:
//
//   - The server hangs. Each statement also has a deadline on our side. After it, the session is
//     dropped, and the remaining checks are not assessed, with the reason timeout.
//   - A database refuses the connection: its checks are not assessed, with the reason
//     database_unreachable. The others go on.
//   - An assessment does not show one instant: checks run up to minutes apart. So an assessment
//     has a start and an end.
//   - The process dies: it has written nothing to the server. The server ends the session by
//     idle_in_transaction_session_timeout or when it next writes to it.
//   - The server is hostile: LIMIT bounds the rows of lists of objects, and no text of the
//     server's errors is stored.
package postgresql
