// Package transact runs work in a transaction of its own: begin, do, commit, or roll
// back where anything fails or panics.
//
// It runs the work once. Whatever may be decided again when another writer came first
// goes through the one door for that, eventstore.Transact, which stands on this and
// knows which errors mean so. It is a room of its own because the rooms below the
// event store (accounts, secrets, measurements) need transactions too and may not
// import it.
//
// What may go wrong: the answer to a commit is lost. Then an error comes back though
// the work may be done; who calls asks the database.
package transact
