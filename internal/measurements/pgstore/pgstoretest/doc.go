// Package pgstoretest provides pgstore in the form that the suite of package measurementstest
// takes.
//
// Time passes in such a store when the test says so: arrived samples are made older in its
// ledger. Every other time that it rolls up, closed hours are put into blocks as well, so both
// ways are read, and both at once.
//
// What may go wrong: the statements name tables of pgstore, which may change.
package pgstoretest
