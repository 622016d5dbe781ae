// Package longtest marks tests that only `make test-all` runs: they are slow, or another test
// holds most of the same.
//
// Such a test is called TestLong…. `make test-all` runs these names with MUSTER_TEST_LONG set;
// elsewhere the tests are skipped, and say so. Properties that ask a database are tried more
// often there (Checks).
// What may go wrong: a long test with another name would run nowhere, so Only fails it
// everywhere.
package longtest
