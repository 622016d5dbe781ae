// Package inventory has page 1 and the sections of reports on sensitive data: the tables by
// category, who can read them, their encryption, the worklist and the risk register.
//
// # What may go wrong
//
// A database was never classified: it is listed as such, and no total counts it as clean.
package inventory
