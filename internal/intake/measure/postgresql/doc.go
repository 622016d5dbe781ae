// Package postgresql reads the activity of a PostgreSQL server from version 13 on.
//
// Sessions are grouped on the server (pg_stat_activity). Statements come from
// pg_stat_statements: the reader moves to the database that has it, and looks at its columns,
// because an extension may be older than its server. The execution time of a database comes from
// pg_stat_database, from 14 on. A connection only reads, and ends its statements after five
// seconds.
//
// What may go wrong:
//
//   - The extension is dropped, moved or updated, or its library is not loaded: the reader looks
//     for it again, every ten minutes in all other databases, twenty of them a minute. Missing
//     says that the search continues, or that no database has it.
//   - The role may not tell the statements of other users apart: their list would be incomplete,
//     so none is read, and the missing grant is named.
//   - The bytes of one text are invalid in the encoding of the database: no text of that answer
//     can be read.
//   - Before 17, no entry has a creation time. Before 14, nothing reports a complete reset: it
//     shows only where a counter fell.
package postgresql
