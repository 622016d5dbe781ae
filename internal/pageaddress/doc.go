// Package pageaddress has the addresses of the pages, and makes links to them.
//
// The pages' own table is web/src/routes.tsx; All is the same list on this side. Two tests keep
// it the only one: one of internal/httpapi compares it with the table, and one here finds
// addresses that are spelt elsewhere. A link is a page's address with its ids; what follows in a
// query or a fragment is added by the caller.
//
// # What may go wrong
//
// A link in an old mail leads to an address that is gone. So an address that was ever mailed
// stays in the list.
package pageaddress
