// Package worsttest makes the bodies that cost a door of /ingest the most, for tests and
// benchmarks: a small packed body that is large once it is unpacked, a million empty items,
// a map of a million keys, and messages that use each bound of a door to its end.
//
// Nothing is stored of most of them: they name instances that nobody registered.
package worsttest
