// Package cluster makes, starts and stops PostgreSQL clusters with the programs
// installed on this machine.
//
// It knows initdb, postgres and the files they write, and nothing of Muster:
// the private server (package postgres) and the test servers (package pgtest)
// are both built on it. As root the programs run as user postgres, or nobody where
// there is none, which must be able to reach the directories. Where no programs are
// installed, those do that `make demo` has fetched.
//
// What may go wrong: a server started here outlives a killed parent. Whoever
// starts one decides what becomes of it: the private server is adopted by the
// next process, a test's server is ended by a watcher.
package cluster
