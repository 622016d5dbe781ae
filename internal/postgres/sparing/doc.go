// Package sparing opens few connections of a pool.
//
// If statements come at the same moment and no connection is idle, one of them opens a connection,
// and the others wait for their turn to do so, or for a connection that an earlier statement has
// left. A start of serve, whose loops all begin at once, opened 36 connections without this, most of
// them for one short statement; each is a process of PostgreSQL with a cache and plans of its own.
//
// What may go wrong: a connection takes long to open, because its server is slow or away. If none
// is left meanwhile, the other statements wait 400 ms for it, and then open their own. With 100 ms,
// a start on a machine where a connection costs 46 ms opened 22, and with 400 ms 12.
package sparing
