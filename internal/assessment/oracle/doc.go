// Package oracle says what the checks of the catalogue need of an Oracle Database from
// 12.2 on.
//
// A DBA_ or V$ view shows all of its rows to whoever may read it, or is not there for him
// (ORA-00942): rights need not be asked for beforehand, the refusal names the grant. The
// parameters are read at once (sql/parameters.sql); one that the release does not have is
// not there.
//
// What may go wrong: no live Oracle has met any of it, see README. In a pluggable database
// the views show that database alone, and what is kept in the root is not known.
package oracle
