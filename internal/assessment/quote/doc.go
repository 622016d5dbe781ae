// Package quote writes names and strings into statements that people read and copy.
//
// What cannot be seen is written by its number: a name that a server made up may
// hold a line break, a letter that turns the reading direction round, or one that
// looks like another. Everything else is as quote_ident writes it, so that what is
// printed is what a DBA would type. SQL Server and Oracle have no such way inside a
// name (Dialect): what cannot be seen cannot be written, and the caller prints nothing.
//
// What may go wrong: a server without standard_conforming_strings reads a literal
// with a backslash differently. It is on by default, and on every session of ours.
package quote
