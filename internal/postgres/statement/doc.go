// Package statement runs one SQL statement, and names its purpose in its error.
//
// The purpose of a statement comes before its text ("lock a member"), and wraps the driver's
// error once; errors.As finds *pgconn.PgError below it. sqlx scans rows by the db tags of their
// fields. Nothing here begins a transaction or tries again: q is the caller's database or
// transaction.
//
// What may go wrong: a statement that returns no row is an error for One (sql.ErrNoRows,
// wrapped) and none for Find.
package statement
