// Package contract reads openapi.yaml: the table of routes with the roles and scopes
// that may call them, and what of a request is held against a route's row before a
// handler sees it.
//
// A row says which types, encodings and sizes a body may have (Negotiate), and its
// operation's schemas say what parameters and body must be (CheckRequest). Everything
// that is wrong is told at once. Rules of the business are none of this package: they
// are the use cases' (package commands).
//
// # What may go wrong
//
//   - An operation without roles, or without a scope where somebody has to sign in:
//     Load fails, and the server does not start.
//   - Everything is wrong with a large body: the first 10,000 faults are named, and
//     finding them takes no more than the body itself.
//   - A small body unpacks to a large one: it is read up to its row's limit, and snappy
//     is refused by its own length before anything is allocated for it.
package contract
