// Package serverstest answers the queries of tests: a servers.Session over rows that were
// recorded, or written from a vendor's documentation, where no server of the engine can
// be had.
//
// It knows a query by its first line, as it stands in its file. It judges nothing: that a
// column exists, package documented holds against the vendor's documentation.
package serverstest
