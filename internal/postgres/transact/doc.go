// Package transact runs work in a transaction of its own: it begins, runs the work, and commits,
// or rolls back if anything fails or panics. Within does the same for a part of a transaction.
//
// It runs the work once. Work that may have to be decided again because another writer came
// first uses eventstore.Transact, which is built on this and knows the errors that mean so. It
// is a package of its own because the packages below the event store (accounts, secrets,
// measurements) need transactions too and may not import it.
//
// What may go wrong: the answer to a commit is lost. Then it returns an error although the work
// may be done, and the caller has to ask the database.
package transact
