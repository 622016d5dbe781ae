// Package postgresql reads what a PostgreSQL server from version 13 on does.
//
// Sessions are grouped on the server (pg_stat_activity). Statements come from
// pg_stat_statements, wherever it is: we move to the database that has it, and what it
// offers is known by its columns, for an extension may be older than its server. How long a
// database executed comes from pg_stat_database, from 14 on. A connection only reads, and
// ends its statements after five seconds.
//
// What may go wrong:
//
//   - The extension is dropped, moved or updated, or its library is not loaded: it is
//     looked for again, every ten minutes in all other databases, twenty of them a minute.
//     Missing says that the search goes on, or that no database has it.
//   - Our role may not tell the statements of others apart: their list would be a part, so
//     none is read, and the grant is named.
//   - Bytes of one text are none in the encoding of the database: they keep all texts of
//     that answer back.
//   - Before 17 no entry says since when it is there, and before 14 nothing says that all
//     were reset: that shows only where a counter fell.
package postgresql
