// Package quote writes names and strings into statements that people read and copy.
//
// Invisible characters are written as their code point. A server can make up a name with a line
// break, with a character that reverses the writing direction, or with a letter that looks like
// another. Everything else is written as quote_ident writes it, so the printed statement is what
// a DBA would type. SQL Server and Oracle have no such escape inside a name (Dialect): an
// invisible character cannot be written there, and the caller prints nothing.
//
// What may go wrong: a server without standard_conforming_strings reads a literal with a
// backslash differently. The setting is on by default, and on in every session of Muster.
package quote
