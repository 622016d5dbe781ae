// Package pgstoretest is pgstore as the suite of package measurementstest takes it.
//
// Time passes in such a store when the test says so: what has arrived is made older in its
// ledger. Every other time that it rolls up, what is over is put into blocks as well, so
// that both ways are read, and both at once.
//
// What may go wrong: the statements name tables of pgstore, which may change.
package pgstoretest
