// Package inspectiontest hands what inspectors find on servers that are written down to the
// tests that make documents of it.
//
// The tests of an inspector keep what it finds in a file; a test that makes documents reads
// it. So documents are held to what collectors find, and not to what somebody thought they
// would find.
//
// What may go wrong: an inspector finds something else. Its test fails, and -update keeps
// that; the documents' test then says what became of it.
package inspectiontest
