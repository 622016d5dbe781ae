// Package worsttest makes the most expensive bodies for each door of /ingest, for tests and
// benchmarks: a small compressed body that unpacks to a large one, a million empty items, a map
// of a million keys, and messages that use each limit of a door fully.
//
// Most of them store nothing: they name instances that are not registered.
package worsttest
