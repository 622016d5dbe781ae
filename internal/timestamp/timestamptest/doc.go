// Package timestamptest is an authority for time stamps, for tests: OpenSSL behind HTTP.
package timestamptest
