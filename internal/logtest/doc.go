// Package logtest is a log for tests: many goroutines write it, and the test reads it
// meanwhile.
package logtest
