// Package catalogue holds what Muster checks on a PostgreSQL server, as data.
//
// The files under checks/ hold one list of checks a domain. A check has either
//
//   - a query: one row for each violation, with the columns object (its name
//     for as long as it breaks the check: exceptions are about names) and
//     evidence and, if graded, the severity of that row; no row is a pass; or
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
// population counts the objects assessed, for the share that fails; unreadable
// lists objects whose state is hidden one by one. In statement, {object} stands
// for the violating object.
//
// What may go wrong: a check that is malformed, names an unknown rule or has a
// duplicate id keeps the program from starting; the tests run every query on
// every PostgreSQL that is installed.
package catalogue
