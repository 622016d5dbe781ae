// Package inspection runs the checks of a catalog on a server, and reports each result in
// the same words for every engine.
//
// A Look is one database, or the server as a whole: a session, the settings that were
// read of it, and the Server that its engine's inspector knows. A check is run where it
// applies, by what the server has, and where the account may see all that the check
// reads. That is asked beforehand (Server.Missing), for SQL Server answers with fewer rows
// and no error: no row would read as a pass. What a server refuses all the same, or does
// not finish, is not assessed, with the grant that is missing where one is.
//
// Rows of a check of SQL Server or Oracle are the evidence and the parts of the object in
// the order of its form, so that Muster names what fails as a feed does, and the same
// exceptions and statements are about both. Violations are sorted here, not there: a
// server's collation would order them otherwise from look to look.
//
// PostgreSQL's inspector asks in its own way (its queries give the names of statements,
// and are verified by people), and takes from here what is the same: Conclude, Measured,
// NotAssessed, Reason, Finish. All three classify by Classifying, and ask for samples in
// their own ways.
//
// What a query finds is held twice: recorded rows go through the runner (testdata), and the
// query itself, put into PostgreSQL's words, is asked over planted rows, guilty ones and
// innocent ones (testdata/planted). Neither says that a server takes it as it is spelt.
//
// A look ends with its context (LookLimit): each check and database that was not read by then
// says so (Cut, Over).
//
// What may go wrong: a check that lists a hundred thousand objects sends them all; those
// kept are bounded, and an answer beyond servers.ErrTooMuch ends with the connection, so
// that the checks behind it are not assessed.
package inspection
