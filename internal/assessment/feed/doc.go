// Package feed says which releases of PostgreSQL, SQL Server, Oracle, MySQL and MongoDB
// exist, how long they are supported, which published vulnerabilities concern a server,
// and where it should go.
//
// What it says of a server goes into the report's inputs, so a report can be built again
// byte for byte years later, whatever the feed has become. It is a pure function of its
// embedded tables, and of the updates that an operator has added:
//
//	releases.csv         majors of PostgreSQL with their end of life
//	vulnerabilities.csv  CVEs of PostgreSQL, with the version that fixed each in each major
//	lifecycles.csv       majors of the other engines with their end of life
//	builds.csv           their latest known build; of SQL Server all since 2016
//	advisories.csv       their CVEs, with the versions that each is in
//	costs.csv            what an update and an upgrade take, from the vendors' manuals
//	coverage.csv         until when each engine's CVEs are known, and what is missing
//
// Every line names its source and the state of it.
//
// # PostgreSQL
//
// The majors follow the public versioning policy; the latest minor of a major is the
// highest version that any vulnerability was fixed in, unless the table knows a
// later one. A major is affected from its first release up to, and without, the version
// that fixed a CVE.
//
// A major that a CVE does not name is not affected if it was in support in the
// year of the CVE's id, for then the project looked; past its end of life
// nobody looked, and the answer is unknown. Not so where a later major was in
// support all that year and is not named either: the flaw came after it.
//
// # The other engines
//
// advisories.csv has ranges: 8.0.0..8.0.43 with its end, where the vendor names the last
// that is affected, and 16.0..<16.0.1170.5 without it, where it names the first that is
// fixed. Versions are compared by the numbers that both have. Builds of SQL Server are
// of one of two branches, GDR (security updates alone) and CU, whose numbers lie apart:
// a record's fixed build says which branch it is of, not the product that the record
// names, for CVE-2025-49717 names them crosswise. Of two fixed builds on CU the later
// one begins where its cumulative update does.
//
// A CVE that was published after a major's end says nothing of that major. It is not
// ruled out where the oldest major that was in support then has it, as above. A text
// that names no build ("2022", "19c", 19.0.0.0.0 in Oracle's banner) has no CVE, and
// Release.CVEsUnknown.
//
// # The advice
//
// Release.Target is the version to go to for what is open or not ruled out now: of
// PostgreSQL the lowest of the same major that clears it, of the other engines the latest
// known build of the major, if that clears it. A major past its end of life, or whose
// latest build does not clear all, is left for the major with the longest support whose
// latest build does. Release.Longest is that major where the target is not it: where to
// go for the longest life. Release.Cost and Longest.Cost say what each takes.
//
// # Preconditions
//
// They say what else must hold on the server:
//
//	client           client programs of that version, not the running server
//	extension A B    one of these extensions in some database
//	attribute X      a role that is no superuser with that attribute
//	build X          a build of that kind, by what version() says
//	check PG-X00     that check fails
//	unverified …     cannot be told over SQL
//
// Of a server that a feed assesses, its results and accounts decide what they can;
// extensions and builds it does not tell of.
//
// # Updates
//
// With adds records to the tables (Record): each takes the place of what was known of a
// CVE, with the precondition that was known, and the feed that comes of it is a function
// of tables and records, named by a digest of both. Package records reads them, package
// kept keeps them. Plan says what they would change, and refuses what is broken, or older
// than what is known and says otherwise: of the tables, older than coverage.csv has it.
//
// # What may go wrong
//
// The tables age and have gaps. Date is printed wherever an answer is, and so is
// Release.CVEGap, which keeps every verdict from being green: "no CVE is known" of an
// engine with a gap is not "clean". What is missing, by engine, is in coverage.csv: of
// SQL Server most of 2025 and 2026 (though not the builds: who is behind the latest is
// told so), of Oracle and MySQL what Anchore and CISA did not carry and all since August
// 2026, of MongoDB all since July 2026; MariaDB altogether. Service packs of SQL Server
// before 2016 SP3 have no builds, Oracle 21c has no latest Release Update, for what was
// found contradicts the CVE records. The ends of life are those that everybody gets:
// extended support of SQL Server and MySQL, Premier Support of Oracle; the end of MySQL
// 9.7 is an estimate of its source and left out.
//
// Oracle's latest Release Updates are from notes of administrators, for Oracle's own page
// is behind a sign-in; the CVE records of July 2026, which end one before, agree.
//
// A version newer than all that the feed knows has no Release if it is PostgreSQL, and
// is not behind if it is another engine.
//
// Titles of CVEs up to CVE-2023-2455 were cut off in the source and are our wording, and
// so are those of Oracle and MySQL, put together from the record's own text. Scores of
// MongoDB are computed from the vector.
package feed
