// Package multihost reads URLs that may name several hosts, as those of databases do
// (postgres://one:5432,two:5433/muster): net/url takes no list of hosts with ports.
//
// What may go wrong: a reserved character of a password is not written as %XX, and part of
// the account is read as something else. Then Parse returns an error, or a URL whose hosts
// nobody is at; who shows either shows no text of it.
package multihost
