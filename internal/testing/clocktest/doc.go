// Package clocktest is a clock for tests that moves only when the test moves it.
//
// What may go wrong: the database has its own clock. A test whose statements compare the two has
// to start near the current time. A test that takes its times from the database alone fails at
// midnight, unless it waits for the end of the day first (Stay).
package clocktest
