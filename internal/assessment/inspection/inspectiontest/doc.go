// Package inspectiontest passes the results of inspectors on recorded servers to the tests that
// make documents from them.
//
// The tests of an inspector keep its results in a file, and a test that makes documents reads
// that file. So documents are tested with what collectors really find, and not with what
// somebody expected them to find.
//
// What may go wrong: an inspector finds something else. Its test fails, and -update stores the
// new result. The test of the documents then shows the effect.
package inspectiontest
