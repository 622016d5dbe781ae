// Package timestamptest is a time stamp authority for tests: OpenSSL behind HTTP.
package timestamptest
