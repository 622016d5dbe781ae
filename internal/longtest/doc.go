// Package longtest leaves tests that take minutes to `make test-all`.
//
// Such a test is called TestLong…, which is what `make test-all` runs, with
// MUSTER_TEST_LONG set; elsewhere it is skipped, and says so. Properties are tried more
// often there (Checks). What may go wrong: a test of another name would run nowhere, so
// Only fails it everywhere.
package longtest
