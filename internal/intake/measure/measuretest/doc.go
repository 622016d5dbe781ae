// Package measuretest has what tests of measured servers share: a suite that holds any
// engine's Reader to the same promises, small servers to hold it against, and a home that
// remembers.
//
// # How it works
//
// Conform takes a Server, which does what it is told: it executes statements, has sessions,
// evicts, is restarted. The suite measures it by measure.Server, as serve and the agent do,
// and compares what was kept with what it told the server to do. A Server is made of a
// Simulated one, which holds things but knows no engine, and an engine's way to answer its
// queries with rows; or it is a real one (Watched, of PostgreSQL). Features says what a
// server can tell, and a promise that needs more is not asked for, but that it does not
// tell is: what is uncertain is left out there.
//
// After every round of every scene the suite looks at all that came: nothing is negative,
// no database has two samples, no closed one has any, no more was counted than was executed,
// and nowhere stands the literal that all statements have in their texts.
//
// # What may go wrong
//
// A simulated server answers as we read the documentation of its engine. Where we misread
// it, reader and server agree, and the suite sees nothing.
package measuretest
