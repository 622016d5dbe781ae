// Package contract reads openapi.yaml: the table of routes with the roles and scopes that may
// call them, and the checks of a request against its route's row before a handler sees it.
//
// openapi.yaml lists the headers that every response has once (x-response-headers), and an
// operation lists the ones that its responses lack. Bundle adds the headers to each response;
// that form is served, read and linted.
//
// A row says which types, encodings and sizes a body may have (Negotiate). The schemas of its
// operation say which parameters and bodies are valid (CheckRequest). All faults are reported at
// once. Business rules do not belong here: the use cases check them (package commands).
//
// # What may go wrong
//
//   - An operation has no roles, or no scope although the caller has to sign in: Load fails, and
//     the server does not start.
//   - Everything is wrong with a large body: the first 1,000 faults are reported, and the rest
//     of the body is not read.
//   - A small body unpacks to a large one: it is read up to its row's limit. snappy is refused
//     by the length that it announces, before anything is allocated.
//   - A body has a million empty items, or a map of a million members: a body is checked against
//     its schema while it is read, and only its text is built before that. The rest is not read
//     if there are more items than maxItems, maxProperties or x-max-items-in-call allow, or,
//     under /ingest, more values than one for every eight bytes of the limit.
//   - A gzip body is longer than it says (its last part says how long that part is): it is read
//     again from its beginning, in the turn of a large one (Outgrown).
package contract
