// Package oracle assesses Oracle Databases from 12.2 on.
//
// It opens read-only sessions (internal/servers) and runs the checks of the catalog with
// internal/assessment/inspection. Checks of the server run once, in the container to which the
// connection string leads. Checks of databases run in each open container: from the root in all
// that the account sees, otherwise in the container of the connection. Its own queries are in
// sql/, with the documentation of their columns. No view in them needs the Diagnostics or the
// Tuning Pack.
//
// A DBA_ or V$ view shows all of its rows to an account that may read it, and does not exist for
// other accounts (ORA-00942). So rights need no check beforehand: the refusal names the grants.
// The parameters are read in one query; a parameter that the release does not have is absent.
//
// Accounts, roles and privileges are those of the container of the connection. Each pluggable
// database has its own. From the root, a check of them never passes: it fails, or is not assessed,
// and names the pluggable databases that the root does not show. To assess them, register each
// pluggable database as a server by its own service.
//
// What may go wrong: none of this has run against a live Oracle, see README. In a pluggable
// database the views show that database alone, and facts stored in the root are unknown; the
// check of backups says so. How a TCPS session appears in V$SESSION_CONNECT_INFO is not
// documented (OR-13 looks for SSL). Columns that DBMS_REDACT hides are sampled as they are
// shown.
package oracle
