// Package documented checks whether a query reads only what its vendor documents.
//
// It is used by tests. Our queries have never run on a SQL Server or an Oracle. What a test can
// check without one is that the vendor's documentation has every view, table and column that a
// query names. Check reads one query, and Files every .sql file of a folder. PostgreSQL does not
// need it: there the real server decides.
//
// The documented names are in testdata, one file for each engine (sqlserver.csv, oracle.csv). A
// row names a view, the release since which it has the columns of that row ("" since the first
// one that Muster supports, SQL Server 2016 and Oracle 12.2), the columns, and the page from
// which they were taken. A view's columns are the union of its rows. Oracle's GV$ views are
// their V$ ones with INST_ID, and its CDB_ views their DBA_ ones with CON_ID, as its reference
// says about all of them. functions.csv lists the functions that queries may call.
//
// # What it accepts
//
// One query, and nothing else: SELECT, or WITH and SELECT, with a semicolon at its end.
//
//   - FROM with comma, JOIN … ON, CROSS JOIN, CROSS and OUTER APPLY, LATERAL; views by one, two
//     or three names, functions that return a table, subqueries, (VALUES …) with named columns,
//     joins in parentheses; WITH (NOLOCK) after a table;
//   - WHERE, GROUP BY, HAVING, UNION [ALL], INTERSECT, EXCEPT and MINUS, ORDER BY, OFFSET and
//     FETCH, TOP, DISTINCT, OPTION (…), FOR XML PATH;
//   - common table expressions, with and without a list of columns, and recursive ones;
//   - expressions of literals, columns, parameters (@p1, :1), functions, CASE, CAST, CONVERT,
//     EXTRACT, TRIM, subqueries, IN, EXISTS, LIKE, BETWEEN, IS NULL, OVER, WITHIN GROUP, KEEP,
//     COLLATE, AT TIME ZONE, DATE, TIMESTAMP and INTERVAL literals; {name} as the first of three
//     names stands for a database that is filled in.
//
// A column is looked up in the tables of its own SELECT, then in those around it. An ON sees the
// tables joined so far, and a subquery after APPLY or LATERAL those before it. ORDER BY also
// sees the selected columns, and only those after a UNION.
//
// Syntax that only the other engine knows is a fault: TOP, VALUES and brackets in Oracle, and
// there also a SELECT without FROM and AS before a table's alias; in SQL Server || and MINUS,
// FETCH without OFFSET, and ORDER BY in a subquery without TOP.
//
// All other syntax is a fault: PIVOT, CONNECT BY, MATCH_RECOGNIZE, XMLTABLE, (+), methods of
// XML, SELECT INTO, variables, several statements. These are faults, too:
//
//   - a column without a table's name that no table or more than one has;
//   - * over a documented view;
//   - a column that is newer than the oldest release that the query says it serves;
//   - a view of Oracle's that needs the Diagnostics or the Tuning Pack, whatever the table says;
//   - a UNION whose arms differ in their number of columns, or a list of names that differs from
//     its columns.
//
// The first line of a file says what it serves: "-- SQL Server 2019+", "-- Oracle 12.2+".
// Without it, a query serves everything.
//
// What may go wrong: the documentation is wrong, or a page is of another release. A program
// extracted SQL Server's table from the tables of its pages (MicrosoftDocs/sql-docs). People who
// know the views typed Oracle's, and only a part was compared with the pages. Types are not
// checked, nor whether a column is in GROUP BY, nor the number of a function's arguments. A test
// that reads no file says so and fails.
package documented
