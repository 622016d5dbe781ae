// Package inspection runs the checks of a catalog on a server, and reports each result in the
// same words for every engine.
//
// A Look is one database, or the server as a whole: a session, the settings that were read
// through it, and the Server that its engine's inspector knows. A check runs if it applies to
// the server, and if the account may see everything that the check reads. The rights are checked
// beforehand (Server.Missing), because SQL Server answers with fewer rows and no error, and no
// rows would read as a pass. If the server still refuses a check or does not finish it, the
// check is not assessed, and the result names the missing grant if there is one.
//
// Rows of a check of SQL Server or Oracle are the evidence and the parts of the object, in the
// order of its form. So Muster names failing objects as a feed does, and the same exceptions and
// statements apply to both. Violations are sorted here and not on the server, because a server's
// collation could change their order from one look to the next.
//
// PostgreSQL's inspector runs its own queries, which return the names of statements and which
// people verify. It uses the common parts of this package: Conclude, Measured, NotAssessed,
// Reason, Finish. All three inspectors classify with Classifying, and each takes samples in its
// own way.
//
// What a query finds is tested twice. Recorded rows go through the runner (testdata). The query
// itself, rewritten for PostgreSQL, runs over planted rows, some that fail the check and some
// that pass (testdata/planted). Neither test shows that the real server accepts the query as
// written.
//
// A look ends with its context (LookLimit): each check and database that was not read by then
// says so (Cut, Over).
//
// What may go wrong: a check that lists a hundred thousand objects transfers them all. The
// number of stored objects is limited. An answer beyond servers.ErrTooMuch ends with the
// connection, so the checks after it are not assessed.
package inspection
