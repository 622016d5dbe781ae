// Package writing stores samples: what a batch brings of each series, in one transaction with the
// marks of what has to be rolled up, the freshest figures, and the dictionary's entries.
//
// A batch takes locks in one order: the turns of senders, missing series, series, names and
// statements (package pgstore has the order of all rooms). A sample of a time that is stored adds
// what is new; stored data stays. A sample of a sealed hour is too late, and is counted as such.
//
// What may go wrong: the head takes no more of a series whose blocks are away (ErrHeadBound). A
// program from before does not know a kind of series: nothing of that kind is kept until all
// programs do (kinds.go).
package writing
