// Package statement runs one SQL statement, and says in its error what it was for.
//
// What a statement is for comes before its text ("lock a member"), and wraps the
// driver's error once; errors.As finds *pgconn.PgError below it. Rows are scanned by
// sqlx, by the db tags of their fields. Nothing here begins a transaction or tries
// again: q is a database or a transaction, as the caller has it.
//
// What may go wrong: a statement that returns no row is an error for One
// (sql.ErrNoRows, wrapped) and none for Find.
package statement
