// Package documented says whether a query reads only what its vendor documents.
//
// It is a reader for tests: no SQL Server and no Oracle has met our queries, so what can
// be held without one is that every view, table and column that a query names stands in
// the vendor's documentation. Check reads one query, Files every .sql file of a folder.
// PostgreSQL needs none of it: there the real server judges.
//
// What is documented is in testdata, a file an engine (sqlserver.csv, oracle.csv): a row
// names a view, the release since which it has the columns of that row ("" since the
// first one that Muster supports, SQL Server 2016 and Oracle 12.2), the columns, and the
// page that they were read from. A view's columns are the union of its rows. Oracle's GV$
// views are their V$ ones with INST_ID, its CDB_ views their DBA_ ones with CON_ID, as its
// reference says of all of them. functions.csv lists the functions that queries may call.
//
// # What it takes
//
// One query, and nothing else: SELECT, or WITH and SELECT, a semicolon at its end.
//
//   - FROM with comma, JOIN … ON, CROSS JOIN, CROSS and OUTER APPLY, LATERAL; views by one,
//     two or three names, functions that return a table, subqueries, (VALUES …) with named
//     columns, joins in parentheses; WITH (NOLOCK) behind a table;
//   - WHERE, GROUP BY, HAVING, UNION [ALL], INTERSECT, EXCEPT and MINUS, ORDER BY, OFFSET
//     and FETCH, TOP, DISTINCT, OPTION (…), FOR XML PATH;
//   - common table expressions, with and without a list of columns, and recursive ones;
//   - expressions of literals, columns, parameters (@p1, :1), functions, CASE, CAST, CONVERT,
//     EXTRACT, TRIM, subqueries, IN, EXISTS, LIKE, BETWEEN, IS NULL, OVER, WITHIN GROUP, KEEP,
//     COLLATE, AT TIME ZONE, DATE, TIMESTAMP and INTERVAL literals; {name} as the first of
//     three names stands for a database that is filled in.
//
// A column is looked for in the tables of its own SELECT, then in those around it. An ON
// sees the tables joined so far, a subquery behind APPLY or LATERAL those before it; ORDER
// BY also sees what is selected, and nothing else behind a UNION.
//
// What only the other engine knows is a fault: TOP, VALUES and brackets in Oracle, and there a
// SELECT without FROM and AS before a table's alias; || and MINUS in SQL
// Server, FETCH without OFFSET, ORDER BY in a subquery without TOP.
//
// All else is a fault: PIVOT, CONNECT BY, MATCH_RECOGNIZE, XMLTABLE, (+), methods of XML,
// SELECT INTO, variables, several statements. So is a column without a table's name that
// no table or more than one has, * over a documented view, a column that is younger than
// what the query says it serves, a view of Oracle's that needs the Diagnostics or the
// Tuning Pack, whatever the table says, and arms of a UNION or names of a list that are
// not as many as the columns.
//
// The first line of a file says what it serves: "-- SQL Server 2019+", "-- Oracle 12.2+".
// Without it a query serves everything.
//
// What may go wrong: the documentation is wrong, or a page that was read is of another
// release. SQL Server's table was taken out of the tables of its pages (MicrosoftDocs/sql-docs)
// by a program, Oracle's was typed by people who know the views, and only in part compared
// with the pages. Types are not looked at, nor whether a column stands in GROUP BY, nor how many
// arguments a function takes. A test that reads no file says so and fails.
package documented
