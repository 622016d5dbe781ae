// Package pageaddress has the addresses of the pages, makes links to them, and tells them from other addresses.
//
// The pages' own table is web/src/routes.tsx; All is the same list on the Go side. Two tests
// keep the lists equal and complete: one in internal/httpapi compares All with the table, and
// one here finds addresses that are spelled elsewhere. A link is a page's address with its ids;
// the caller adds a query or a fragment.
//
// # What may go wrong
//
// A link in an old mail leads to an address that is gone. So an address that was ever mailed
// stays in the list.
package pageaddress
