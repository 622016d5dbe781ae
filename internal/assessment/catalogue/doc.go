// Package catalogue holds what is checked on a database server, as data.
//
// The files under internal/engine/*/checks hold one list of checks an engine and domain. An instance is
// assessed by those of its engine (Of). Those of SQL Server and Oracle may also be
// answered by a feed, see below. A check of PostgreSQL has either
//
//   - a query: one row for each violation, with the columns object (its name
//     for as long as it breaks the check: exceptions are about names) and
//     evidence and, if graded, the severity of that row, then those that names
//     lists; no row is a pass; or
//   - evaluate: the name of a rule in internal/assessment/postgresql that takes
//     what several checks share (the HBA rules in order, the release feed).
//
// title says what is wrong where a check fails, passed what is right where it
// passes: no word that is untrue of a result stands beside it.
//
// Whether a check can be run is decided by what the server has and lets the
// role read, never by its version alone. reads lists it:
//
//	relation NAME           SELECT on a catalog or view of pg_catalog
//	relation NAME(COL, …)   SELECT on those columns
//	function NAME()         EXECUTE
//	role NAME               membership: without it rows or columns are hidden
//	setting NAME            a row in pg_settings, which hides what one may not see
//	column NAME.COL         exists; a server without it is not concerned
//
// A read that is not granted makes the check not assessed, with the statement
// that would grant it. That is the point of the list: a view that silently
// shows less (pg_settings, pg_stat_activity, pg_user_mappings) makes a query
// return no row, and no row would read as a pass.
//
// What was measured is printed beside every answer, a pass too: the settings that a
// check reads; else how many of the population fail; else what measure says, one row
// of one text. population counts the objects assessed, for the share that fails. unreadable
// lists objects whose state is hidden one by one, with the columns object, schema
// and name (null: all of the schema), and grants what would show them. unknown says in
// one column, in words, what the server itself cannot tell whatever is granted: counters
// that are switched off, lost, or kept by the primary. Either row keeps a check that
// finds nothing from passing, and stands beside what it does find.
//
// What to do about a violation is remediation, one sentence, and impact: what
// that changes, and what to mind. Where the way to do it can be stated, statements
// holds it as a template (type Statement), the first one whose variables are all
// known. Its variables are the query's further columns, which names lists; run_in
// is the one of them that names the database. A column that is null keeps the
// statement from being printed, and so does a standby, and a setting that ALTER
// SYSTEM would not change. undo holds at the place of a statement what takes it
// back; a setting is set to what was measured, which needs no template. There is no
// statement for what
//
//   - hides a row from whoever sees it now: row level security that is forced, a
//     grant or attribute that is taken away;
//   - keeps the server from starting again: ssl = on without a certificate, a
//     library that is not installed;
//   - leaves a value to choose: a date, an address, a limit, a primary key;
//   - loses what cannot be had back: a replication slot, a prepared transaction;
//   - makes the check pass and mends nothing: a collation version refreshed over
//     indexes in the old order, a sequence that grows beyond its column.
//
// Verify is the check's own query about one object, for a person to run: what
// passes there passes here.
//
// # Checks of SQL Server and Oracle
//
// Whoever assesses a SQL Server or an Oracle with a tool of his own sends what came of each
// check; Muster asks the same itself. So a check of theirs says what is read and how what
// fails is named, for both:
//
//	view NAME(COL, …)          columns of a documented view or table
//	property NAME(PROPERTY, …) of SERVERPROPERTY, DATABASEPROPERTYEX
//	option NAME                a row of SQL Server's sys.configurations
//	parameter NAME             a row of Oracle's V$PARAMETER
//
// rights are the least that let an account read all that. Oracle's follow from the
// views; SQL Server's are written, since there a right shows several views.
//
// object is the form of the names of what fails: words as they stand, and {parts} that
// statements are about. A query has the evidence first, then the parts in their order, so
// that a feed and Muster name the same thing in the same way, and Fix mends both. A name
// that has the form in two ways, or that cannot be written so that a person sees it, has
// no statement (Fix). The statements have met no server: impact says so. A test holds them
// to the forms that the vendors document.
//
// population, measure and unreadable are as PostgreSQL's, but that unreadable lists what
// is not known in one column, in words. inapplicable returns a row where the server has no
// part in the check, which says why; azure is such a sentence for Azure SQL Database. evaluate
// is BuildBehind, or nothing. What is measured of a check that reads settings alone are
// these. Whether a check can be run is asked of the server by what rights say (SQL Server),
// or told by its refusal (Oracle): internal/assessment/inspection.
//
// A query is one SELECT that reads views, columns and functions that the vendor documents
// (internal/servers/documented, whose testdata names the page of each); a test holds reads
// to what the queries read. Where one changes, `node scripts/sql_lint/lint.mjs --write` puts it
// into PostgreSQL's words for the test that asks it over planted rows. No view of them needs Oracle's Diagnostics or Tuning Pack. All
// the same, no query of them has met a live server. A privilege that its holder would lose
// has no statement here, as it has none for PostgreSQL.
//
// # References
//
// A reference is a place in a published text, by the text's key and the place: "cis-pg17
// 5.3". The editions that were consulted (references.go), and from where they are known:
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
// What could not be looked up is not referred to: newer editions of the CIS benchmarks
// of SQL Server and Oracle, and the STIG of Oracle 19c as a whole. That a control is
// touched by a check does not say that the check proves the control.
//
// internal/assessment/postgresql/fixes_test.go has a row for every check of PostgreSQL: it
// plants the fault, runs what is printed, restarts, looks again, and undoes it.
//
// What may go wrong: a check that is malformed, names an unknown rule or has a
// duplicate id keeps the program from starting; the tests run every query on
// every PostgreSQL that is installed.
package catalogue
