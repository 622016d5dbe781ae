// Package instant truncates a time to the precision of PostgreSQL: UTC, whole microseconds,
// never rounded up. It also returns the later and the earlier of two times.
//
// Truncate a time before you decide on it, hash it or compare it. Otherwise the value in memory
// and the value read back from a row, an event or a cursor differ by nanoseconds, and a recorded
// fact looks like a new one. pgx truncates in the same way. The server rounds text that it casts
// to timestamptz, which is one more reason to truncate first.
package instant
