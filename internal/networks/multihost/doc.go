// Package multihost parses URLs that may name several hosts, as database URLs do
// (postgres://one:5432,two:5433/muster). net/url accepts no list of hosts with ports.
//
// What may go wrong: a reserved character of a password is not written as %XX, and part of the
// account is read as something else. Then Parse returns an error, or a URL with hosts that do
// not exist. A caller that reports either must not show its text.
package multihost
