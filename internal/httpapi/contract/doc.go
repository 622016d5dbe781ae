// Package contract reads openapi.yaml: the table of routes with the roles and scopes
// that may call them, and what of a request is held against a route's row before a
// handler sees it.
//
// openapi.yaml names the headers that every response has once (x-response-headers), and an
// operation those that its responses lack. Bundle puts them at each response; that form is
// served, read and linted.
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
//   - Everything is wrong with a large body: the first 1,000 faults are named, and what
//     follows them is not read.
//   - A small body unpacks to a large one: it is read up to its row's limit, and snappy
//     is refused by its own length before anything is allocated for it.
//   - A body has a million empty items, or a map of a million members: a body is held against
//     its schema while it is read, and nothing is made of it before but its text. Where there
//     are more items than maxItems, maxProperties or x-max-items-in-call allow, or under
//     /ingest more values than one for eight bytes of the limit, the rest is not read.
//   - A body of gzip is longer than it says (its last part says how long that part is): it is
//     read again from its beginning, in the turn of a large one (Outgrown).
package contract
