// Package measuretest has what tests of measured servers share: a suite with the promises of
// every engine's Reader, small servers to test readers against, and a home that remembers what
// it got.
//
// # How it works
//
// Conform takes a Server, which does what it is told: it executes statements, has sessions,
// evicts entries, is restarted. The suite measures it with measure.Server, as serve and the
// agent do, and compares the stored samples with what it told the server to do. A Server
// consists of a Simulated one, which holds the state and knows no engine, and of an engine's way
// to answer its queries with rows. It may also be a real one (Watched, of PostgreSQL). Features
// says what a server can tell. If a promise needs more, the suite instead checks that the
// uncertain part is left out.
//
// After every round of every scene, the suite checks all results: nothing is negative, no
// database has two samples, no closed database has any, no more was counted than was executed,
// and the literal that all statements have in their texts appears nowhere.
//
// # What may go wrong
//
// A simulated server answers as we read the documentation of its engine. If we misread it,
// reader and server agree, and the suite does not notice.
package measuretest
