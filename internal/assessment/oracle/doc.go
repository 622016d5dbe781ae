// Package oracle assesses Oracle Databases from 12.2 on.
//
// It opens sessions that only read (internal/servers) and runs the checks of the catalogue
// by internal/assessment/inspection: those of the server once, in the container that the
// connection string leads to, and those of databases in each container that is open: from
// the root that are all of those the account sees, else the one it is in. Its own queries
// are in sql/, with the documentation that their columns are from. No view of them needs
// the Diagnostics or the Tuning Pack.
//
// A DBA_ or V$ view shows all of its rows to whoever may read it, or is not there for him
// (ORA-00942): rights need not be asked for beforehand, the refusal names the grants. The
// parameters are read at once; one that the release does not have is not there.
//
// Accounts, roles and privileges are those of the container where the connection leads:
// each pluggable database has its own, and is registered by its own service to be looked
// at as a server.
//
// What may go wrong: no live Oracle has met any of it, see README. In a pluggable database
// the views show that database alone, and what is kept in the root is not known: the
// check of backups says so. How a session by TCPS names itself in V$SESSION_CONNECT_INFO is
// not documented (OR-13 looks for SSL). Columns that DBMS_REDACT hides are sampled as they are shown.
package oracle
