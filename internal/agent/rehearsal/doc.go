// Package rehearsal measures a server for a while by the loop that serve and the agent have, and throws away what is
// measured but for its number.
//
// A single look meets neither a second list, nor the texts of what was executed in between, nor a server's clock. A query
// that was never sent to an engine's version would count as met on it.
//
// What may go wrong: a rehearsal that is shorter than two intervals of statements counts none, which is no failure.
package rehearsal
