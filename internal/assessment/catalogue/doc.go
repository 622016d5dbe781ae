// Package catalogue holds the checks of database servers, as data.
//
// The files under internal/engine/*/checks hold one list of checks for each engine and domain.
// An instance is assessed by the checks of its engine (Of). A feed may also answer the checks of
// SQL Server and Oracle, see below. A check of PostgreSQL has one of these:
//
//   - query: returns one row for each violation, and no row if the check passes. The columns are
//     object (its name for as long as it fails the check, because exceptions refer to names),
//     evidence, if graded the severity of that row, and then the columns that names lists.
//   - evaluate: the name of a rule in internal/assessment/postgresql, for inputs that several
//     checks share (the HBA rules in order, the release feed).
//
// title says what is wrong if a check fails, and passed what is right if it passes. So no text
// beside a result is untrue of it.
//
// Whether a check can run depends on what the server has and what the role may read, and never
// on the version alone. reads lists the requirements:
//
//	relation NAME           SELECT on a catalog or view of pg_catalog
//	relation NAME(COL, …)   SELECT on those columns
//	function NAME()         EXECUTE
//	role NAME               membership: without it rows or columns are hidden
//	setting NAME            a row in pg_settings, which hides what one may not see
//	column NAME.COL         exists; a server without it is not concerned
//
// If a read is not granted, the check is not assessed, and the result has the statement that
// would grant it. This is the purpose of the list: a view that silently shows less (pg_settings,
// pg_stat_activity, pg_user_mappings) makes a query return no row, and no row would read as a
// pass.
//
// Every answer, also a pass, is printed with a measured value: the settings that the check
// reads; or else how many of the population fail; or else the result of measure, one row with
// one text. population counts the assessed objects, for the share that fails. unreadable lists
// objects whose state is hidden individually, with the columns object, schema and name (null:
// all of the schema), and grants lists what would show them. unknown returns one column with a
// sentence about facts that the server cannot tell under any grants: counters that are switched
// off, lost, or kept by the primary. A row of unreadable or unknown prevents a pass, and is
// shown beside the violations that the check finds.
//
// The advice for a violation is remediation, one sentence, and impact: the effect of the change
// and its risks. If the change can be written as a statement, statements holds it as a template
// (type Statement); the first template whose variables are all known is used. Its variables are
// the further columns of the query, which names lists. run_in names the variable that holds the
// database. No statement is printed if a column is null, on a standby, and for a setting that
// ALTER SYSTEM would not change. undo has, at the place of each statement, the statement that
// reverts it. A setting is reset to the measured value, which needs no template. There is no
// statement for a change that
//
//   - hides a row from a user who sees it now: forced row level security, or a revoked grant or
//     attribute;
//   - keeps the server from starting: ssl = on without a certificate, a library that is not
//     installed;
//   - needs a value that a person has to choose: a date, an address, a limit, a primary key;
//   - loses data that cannot be restored: a replication slot, a prepared transaction;
//   - makes the check pass without fixing the fault: a collation version refreshed over indexes
//     in the old order, a sequence that grows beyond its column.
//
// Verify is the check's own query about one object, for a person to run. An object that passes
// it also passes the check.
//
// # Checks of SQL Server and Oracle
//
// A tool of the customer may assess a SQL Server or an Oracle and send the result of each check,
// and Muster runs the same checks itself. So these checks say, for both, what is read and how a
// failing object is named:
//
//	view NAME(COL, …)          columns of a documented view or table
//	property NAME(PROPERTY, …) of SERVERPROPERTY, DATABASEPROPERTYEX
//	option NAME                a row of SQL Server's sys.configurations
//	parameter NAME             a row of Oracle's V$PARAMETER
//
// rights are the least privileges with which an account can read all that. Oracle's follow from
// the views; SQL Server's are written out, because one of its rights covers several views.
//
// object is the form of the names of failing objects: fixed words, and {parts} that statements
// use. A query returns the evidence first and then the parts in their order. So a feed and
// Muster give the same name to the same object, and Fix serves both. A name that matches the
// form in two ways, or that cannot be written visibly, has no statement (Fix). The statements
// have never run on a server: impact says so. A test compares them with the forms that the
// vendors document.
//
// population, measure and unreadable are as for PostgreSQL, except that unreadable returns one
// column with a sentence about what is not known. inapplicable returns a row with the reason if
// the check does not apply to the server; azure is such a sentence for Azure SQL Database, and
// managed for Azure SQL Managed Instance and Autonomous Database, whose release, storage and
// backups are their provider's.
// evaluate is BuildBehind, or empty. For a check that reads settings alone, the settings are the
// measured value. Whether a check can run is decided by asking the server for rights (SQL
// Server) or by its refusal (Oracle): internal/assessment/inspection.
//
// A query is one SELECT that reads views, columns and functions that the vendor documents
// (internal/servers/documented; its testdata names the page of each). A test compares reads with
// what the queries read. After a change of a query, `node scripts/sql_lint/lint.mjs --write`
// rewrites it for PostgreSQL, for the test that runs it over planted rows. No view in the
// queries needs Oracle's Diagnostics or Tuning Pack. None of these queries has run on a live
// server. As for PostgreSQL, no statement revokes a privilege from its holder.
//
// # References
//
// A reference is a place in a published text, by the text's key and the place: "cis-pg17 5.3".
// These are the editions that were consulted (references.go), and the source of each:
//
//	CIS PostgreSQL 17 1.1.0         the benchmark's own table of contents
//	CIS SQL Server 2019 1.0.0       the list of recommendations in a public script made to it
//	CIS Oracle 19c 1.0.0            MITRE's oracle-database-19c-cis-baseline
//	STIG Crunchy Data PG V3R1       MITRE's crunchy-data-postgresql-stig-baseline
//	STIG SQL Server 2022 V1R4       DISA's XCCDF, as PowerStig carries it
//	STIG Oracle 12c V1R12           MITRE's oracle-database-12c-stig-baseline
//	PCI DSS 4.0.1                   public transcripts of its requirements
//	ISO/IEC 27001:2022 Annex A      public lists of its controls; the text itself is sold
//	PostgreSQL 15                   the pages of the package postgresql-doc-15
//	SQL Server 2022                 the sources of its documentation, MicrosoftDocs/sql-docs
//	Oracle 19c Reference            docs.oracle.com, and the queries of the two profiles above
//
// Texts that could not be consulted are not referenced: newer editions of the CIS benchmarks of
// SQL Server and Oracle, and the complete STIG of Oracle 19c. A reference to a control does not
// mean that the check proves the control.
//
// internal/assessment/postgresql/fixes_test.go has a row for every check of PostgreSQL. It
// plants the fault, runs the printed statement, restarts the server, checks again, and undoes
// the change.
//
// What may go wrong: a malformed check, a check with an unknown rule, or a duplicate id keeps
// the program from starting. The tests run every query on every installed PostgreSQL.
package catalogue
