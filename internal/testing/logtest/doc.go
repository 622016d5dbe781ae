// Package logtest is a log for tests: many goroutines write it while the test reads it.
package logtest
