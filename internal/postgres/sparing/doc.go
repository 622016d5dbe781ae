// Package sparing opens few connections of a pool.
//
// If statements come at the same moment and no connection is idle, it opens one connection after
// the other: by the time it is a statement's turn, an earlier statement is often done and leaves
// its connection. A start of serve, whose loops all begin at once, opened 36 connections without
// this, most of them for one short statement; each is a process of PostgreSQL with a cache and
// plans of its own.
//
// What may go wrong: a connection takes long to open, because its server is slow or away. The
// other statements wait 100 ms for it, and then open their own.
package sparing
