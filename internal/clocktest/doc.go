// Package clocktest is a clock for tests, which moves when it is told to.
//
// What may go wrong: the database has a clock of its own. A test whose statements
// compare the two starts at about now.
package clocktest
