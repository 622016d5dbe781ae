// Package feed knows which releases of PostgreSQL, SQL Server, Oracle, MySQL and MongoDB exist,
// how long they are supported, which published vulnerabilities affect a server, and which
// version it should move to.
//
// Its answer about a server goes into the report's inputs. So a report can be built again byte
// for byte years later, even if the feed has changed. The answer is a pure function of the
// embedded tables and of the updates that an operator has added:
//
//	releases.csv         majors of PostgreSQL with their end of life
//	vulnerabilities.csv  CVEs of PostgreSQL, with the version that fixed each in each major
//	lifecycles.csv       majors of the other engines with their end of life
//	builds.csv           their latest known build; of SQL Server all since 2016
//	advisories.csv       their CVEs, with the versions that each affects
//	costs.csv            the effort of an update and of an upgrade, from the vendors' manuals
//	exploited.csv        CVEs that CISA lists as exploited in the wild, with the day
//	coverage.csv         until when each engine's CVEs are known, and what is missing
//
// Every line names its source and the state of it.
//
// # PostgreSQL
//
// The majors follow the public versioning policy. The latest minor of a major is the highest
// version in which any vulnerability was fixed, unless the table knows a later one. A CVE
// affects a major from its first release up to, and without, the version that fixed it.
//
// A major that a CVE does not name is not affected if it was supported in the year of the CVE's
// id, because the project then examined it. After its end of life the project did not examine
// it, and the answer is unknown. There is one exception: if a later major was supported during
// all of that year and is not named either, the flaw is newer than both.
//
// # The other engines
//
// advisories.csv has ranges. 8.0.0..8.0.43 includes its end: the vendor names the last affected
// version. 16.0..<16.0.1170.5 excludes its end: the vendor names the first fixed version.
// Versions are compared by the numbers that both have. Builds of SQL Server are of one of two
// branches, GDR (security updates alone) and CU, whose numbers do not overlap. The fixed build
// in a record says which branch it is of. The product that the record names does not:
// CVE-2025-49717 names the products crosswise. If there are two fixed builds on CU, the later
// one applies from its own cumulative update on.
//
// A CVE that was published after a major's end says nothing about that major. The CVE is not
// ruled out if it affects the oldest major that was supported then, as above. A text that names
// no build ("2022", "19c", 19.0.0.0.0 in Oracle's banner) has no CVE, and Release.CVEsUnknown.
//
// # The advice
//
// Release.Target is the version that fixes what is open or not ruled out now. For PostgreSQL it
// is the lowest version of the same major that does. For the other engines it is the latest
// known build of the major, if that build does. If a major is past its end of life, or its
// latest build does not fix everything, the target is the major with the longest support whose
// latest build does. Release.Longest is that major if it is not the target: the version with the
// longest life. Release.Cost and Longest.Cost give the effort of each.
//
// # Preconditions
//
// A precondition says what else must be true on the server for a CVE to apply:
//
//	client           client programs of that version, not the running server
//	extension A B    one of these extensions in some database
//	attribute X      a role that is no superuser with that attribute
//	build X          a build of that kind, by what version() says
//	check PG-X00     that check fails
//	unverified …     cannot be told over SQL
//	script X         the fixed version, too, until X was run in clusters from before it
//
// If a feed assesses the server, its results and accounts decide the preconditions that they
// can; they say nothing about extensions and builds.
//
// # Updates
//
// With adds records to the tables (Record). Each record replaces what was known about a CVE, and
// keeps the known precondition. The resulting feed is a function of tables and records, named by
// a digest of both. Package records reads them, and package kept stores them. Plan says what
// they would change. It refuses broken records, and records that contradict newer knowledge; for
// the tables, coverage.csv has the date of that knowledge.
//
// WithExploited replaces the list of exploited CVEs by one of CISA's that is newer than the tables
// (ExploitedList). The identity says until when the list is known.
//
// # What may go wrong
//
// The tables age and have gaps. Date is printed beside every answer, and so is Release.CVEGap,
// which keeps every verdict from being green: "no CVE is known" for an engine with a gap does
// not mean "clean". coverage.csv lists what is missing for each engine:
//
//   - SQL Server: most of 2025 and 2026. Its builds are known, so Muster reports servers that
//     are behind the latest build.
//   - Oracle and MySQL: what Anchore and CISA did not carry, and everything since August 2026.
//   - MongoDB: everything since July 2026.
//   - MariaDB: everything.
//
// Service packs of SQL Server before 2016 SP3 have no builds. Oracle 21c has no latest Release
// Update, because the sources contradict the CVE records. The ends of life are those that apply
// without a further contract: extended support of SQL Server and MySQL, Premier Support of
// Oracle. The end of MySQL 9.7 is an estimate of its source and is left out.
//
// Oracle's latest Release Updates are from notes of administrators, because Oracle's own page
// requires a sign-in. The CVE records of July 2026, which end one update before, agree with
// them.
//
// A version newer than all that the feed knows has no Release if it is PostgreSQL, and is not
// behind if it is another engine.
//
// Titles of CVEs up to CVE-2023-2455 were cut off in the source and are our wording. So are
// those of Oracle and MySQL, which are composed from the record's own text. Scores of MongoDB
// are computed from the vector.
package feed
