// Package cluster creates, starts and stops PostgreSQL clusters with the programs installed on
// this machine.
//
// It knows initdb, postgres and the files they write, and nothing about Muster: the private
// server (package postgres) and the test servers (package pgtest) are both built on it. As root,
// the programs run as user postgres, or nobody if there is no such user; that user must be able
// to reach the directories. If no programs are installed, those that `make demo` has fetched
// run.
//
// What may go wrong: a server started here outlives a killed parent. The package that starts a
// server handles that: the next process adopts the private server, and a watcher ends a test's
// server.
package cluster
