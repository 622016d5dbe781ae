// Package feed says which PostgreSQL releases exist, how long they are
// supported and which published vulnerabilities concern a server; and how long majors
// of SQL Server, Oracle, MySQL and MongoDB are supported.
//
// It is a pure function of three embedded tables, so a report can be built again
// byte for byte years later. releases.csv holds the majors with their end of
// life, from the public versioning policy; the latest minor of a major is the
// highest version that any vulnerability was fixed in, unless the table knows a
// later one. vulnerabilities.csv holds one line a CVE with the version that
// fixed it in each major: a major is affected from its first release up to, and
// without, that version.
//
// A major that a CVE does not name is not affected if it was in support in the
// year of the CVE's id, for then the project looked; past its end of life
// nobody looked, and the answer is unknown. Not so where a later major was in
// support all that year and is not named either: the flaw came after it.
//
// The version to go to is the lowest of the same major that clears the CVEs. A
// major past its end of life is left for the newest one: the oldest that is
// still supported may have months left.
//
// Preconditions say what else must hold on the server:
//
//	client           client programs of that version, not the running server
//	extension A B    one of these extensions in some database
//	attribute X      a role that is no superuser with that attribute
//	build X          a build of that kind, by what version() says
//	check PG-X00     that check fails
//	unverified …     cannot be told over SQL
//
// lifecycles.csv holds the majors of the other engines with the day on which the vendor
// ends what everybody gets: extended support of SQL Server and of MySQL, Premier
// Support of Oracle. A line names its source and the state of it. Not in it, since it
// could not be looked up or is not one day: CVEs of these engines, which release of
// them is the latest, the end of MySQL 9.7, MariaDB, service packs of SQL Server 2016
// and before, and what is paid for beyond the end (Extended Security Updates, Extended
// Support of Oracle). Release.CVEsUnknown says that no CVE is not a clean one.
//
// What may go wrong: the tables age. Date is printed wherever an answer is, and
// a version newer than all that the feed knows has no Release. Titles of CVEs
// up to CVE-2023-2455 were cut off in the source and are our wording.
package feed
