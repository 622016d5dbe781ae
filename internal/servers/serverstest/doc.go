// Package serverstest answers the queries of tests. It is a servers.Session over recorded rows, or
// over rows written from a vendor's documentation if no server of the engine is available.
//
// It recognizes a query by the first line of its file. It does not check anything: package
// documented compares columns with the vendor's documentation.
package serverstest
