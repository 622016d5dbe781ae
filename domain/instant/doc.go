// Package instant truncates a time to the precision of PostgreSQL: UTC, whole
// microseconds, never rounded up. It also tells the later of two times from the earlier.
//
// Whatever is decided on, hashed or compared is cut first. Otherwise the value in
// hand and the one read back from a row, an event or a cursor differ by
// nanoseconds, and a fact that is there already looks like another one. pgx cuts
// as this does; text that is cast to timestamptz by the server is rounded instead,
// which is one more reason to cut before.
package instant
